// What kernels whose blocks run in clusters share (compute capability 9.0 and later).
#pragma once

#include "ert/gpu/check.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

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

/// That many blocks, in clusters of `size`. `attribute` must outlive what is returned.
inline cudaLaunchConfig_t in_clusters(int blocks, int size, int threads, std::size_t shared_bytes, cudaStream_t stream,
                                      cudaLaunchAttribute& attribute)
{
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(size), 1, 1};
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(static_cast<unsigned>(blocks));
    configuration.blockDim = dim3(static_cast<unsigned>(threads));
    configuration.dynamicSmemBytes = shared_bytes;
    configuration.stream = stream;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    return configuration;
}

/// Clusters that the current device holds at once; 0 if none fits. Throws Error or Unsupported.
template <class Launch>
int resident_clusters_of(void (*kernel)(Launch), int size, int threads, std::size_t shared_bytes)
{
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t configuration = in_clusters(size, size, threads, shared_bytes, nullptr, attribute);
    int clusters = 0;
    check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &configuration));
    return clusters;
}

}  // namespace roof::gpu
