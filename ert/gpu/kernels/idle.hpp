// A kernel that does nothing, for what a launch costs.
#pragma once

#include <cuda_runtime_api.h>

namespace roof::gpu {

/// One block of one warp. Throws Error.
void enqueue_idle(cudaStream_t stream);

}  // namespace roof::gpu
