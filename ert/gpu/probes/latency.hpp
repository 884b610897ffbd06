// Bench "latency" of a GPU: the time from one load to the next that needs its result.
//
// Launched    one thread on each multiprocessor, each through all lines of its own slice of the working set, so that a working
//             set lies in the level in which that of the "bandwidth" bench does.
// Saturates   nothing: one load at a time of each multiprocessor.
// Counts      the steps of one thread; all take theirs at once. A line is 64 bytes on from the last one in memory, measured far
//             apart in time.
// Time        device events; the clock is read by the kernel itself.
// Falsified   if any thread ends at another line than the arithmetic of its chain says.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// `nvml` may be null.
std::unique_ptr<Bench> latency_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
