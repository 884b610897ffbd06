// A kernel that does nothing, to measure the cost of a launch, and one that waits, to keep that cost out of a time.
#pragma once

#include <cuda_runtime_api.h>

namespace roof::gpu {

/// One block of one warp. Throws Error.
void enqueue_idle(cudaStream_t stream);

/// One thread waits until `*released` (mapped host memory) is not 0, at most a millisecond: the host may wait for the
/// stream before it releases it, as where it loads a kernel. Throws Error.
void enqueue_hold(const volatile unsigned* released, cudaStream_t stream);

}  // namespace roof::gpu
