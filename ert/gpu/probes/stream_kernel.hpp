// The kernels of the "bandwidth" bench as host code sees them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace roof::gpu {

enum class StreamOperation { load, store, copy, triad };

inline constexpr int stream_threads_per_block = 256;
inline constexpr double stream_scale = 3;      ///< triad: out = a + stream_scale * b
inline constexpr double stream_value = 12345;  ///< what store writes

/// Arrays an operation does not use are null. All are 16-byte aligned, `elements` is even.
struct StreamLaunch {
    const double* a = nullptr;
    const double* b = nullptr;
    double* out = nullptr;
    double* sums = nullptr;  ///< load: [blocks][stream_threads_per_block]
    std::size_t elements = 0;
    int blocks = 0;
};

/// Puts one pass into the stream. Throws Error.
void enqueue_stream(StreamOperation operation, const StreamLaunch& launch, cudaStream_t stream);

/// Blocks a multiprocessor of the current device holds at once. Throws Error.
int resident_stream_blocks(StreamOperation operation);

}  // namespace roof::gpu
