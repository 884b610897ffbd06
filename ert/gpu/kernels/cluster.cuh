// What kernels whose blocks run in clusters share (compute capability 9.0 and later).
#pragma once

namespace roof::gpu {

inline __device__ unsigned rank_in_cluster()
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/// All threads of the cluster meet, and see what the others wrote before.
inline __device__ void meet_cluster()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace roof::gpu
