// Bench "distance" of a GPU: how long a load takes from the near and from the far partition of its L2, where it has two.
//
// Launched    one thread on multiprocessor 0, past the L1. When made: each of 1024 lines by itself, many times, to tell which are
//             near and which far. Then a chain through the near ones, or through the far ones.
// Saturates   nothing: one load at a time.
// Counts      the steps of the chain.
// Time        device events; the clock is read by the kernel itself. Lines are told apart by the multiprocessor's own clock.
// Falsified   if the chain ends at another line than its arithmetic says, or no block ran on that multiprocessor. Where the
//             lines' distances are not two the point is unsupported, and says so: so it is, too, where a chip keeps a near copy
//             of what is far.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// `nvml` may be null.
std::unique_ptr<Bench> distance_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
