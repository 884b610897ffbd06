// Bench "partition" of a GPU: how fast all multiprocessors load from the partition of the L2 that is near each, and from the far one,
// where there are two.
//
// Launched    when made: one thread on each multiprocessor times each of 8192 lines by itself, past the L1; of that follows on which
//             side each multiprocessor and each line is. Then blocks on all multiprocessors, which load 2048 lines of their own
//             side, or of the other, again and again.
// Saturates   the L2's slices, and far ones the link between its partitions.
// Counts      the bytes of the lines loaded; the list of lines is in shared memory, read from the L2 once a launch (8 KiB a block,
//             which is not counted).
// Time        device events; the clock is read by the kernel itself.
// Falsified   if a block's sum is not that of its side's lines on the host. A launch with a block on a multiprocessor whose side is not
//             known is disturbed. Where there are no two sides the point is unsupported, and says why.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// `nvml` may be null.
std::unique_ptr<Bench> partition_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
