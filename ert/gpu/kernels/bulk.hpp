// The kernels of the "bandwidth" bench that leave moving to the copy engine of each multiprocessor (cp.async.bulk, since compute
// capability 9.0): whole chunks between device memory and shared memory, without a register in between.
#pragma once

#include "ert/gpu/kernels/stream.hpp"

namespace roof::gpu {

inline constexpr int bulk_chunk_bytes = 8 << 10;
inline constexpr int bulk_stages = 8;    ///< chunks of a block under way at once
inline constexpr int bulk_threads = 32;  ///< of a block; one of them gives the orders

/// Load, store or copy; `vectors` in whole chunks. A load whose `sums` are not null adds up what arrives, for its check.
void enqueue_bulk(StreamOperation operation, const StreamLaunch& launch, cudaStream_t stream);

/// Blocks that a multiprocessor of the current device holds at once. Throws Error or Unsupported.
int resident_bulk_blocks(StreamOperation operation);

}  // namespace roof::gpu
