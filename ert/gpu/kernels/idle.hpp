// A kernel that does nothing, to measure the cost of a launch.
#pragma once

#include <cuda_runtime_api.h>

namespace roof::gpu {

/// One block of one warp. Throws Error.
void enqueue_idle(cudaStream_t stream);

}  // namespace roof::gpu
