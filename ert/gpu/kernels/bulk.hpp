// The kernels of the "bandwidth" bench for the copy engine of each multiprocessor (cp.async.bulk, since compute
// capability 9.0). It moves whole chunks between device memory and shared memory, without registers.
#pragma once

#include "ert/gpu/kernels/stream.hpp"

namespace roof::gpu {

inline constexpr int bulk_chunk_bytes = 8 << 10;
inline constexpr int bulk_stages = 8;    ///< chunks of a block in flight at once
inline constexpr int bulk_threads = 32;  ///< of a block; one of them issues the copies

/// Load, store or copy; `vectors` are whole chunks. A load adds up what arrives if `sums` is not null; its check needs
/// that. Throws Error or Unsupported.
Kernel<StreamLaunch> bulk_kernel_of(StreamOperation operation);

}  // namespace roof::gpu
