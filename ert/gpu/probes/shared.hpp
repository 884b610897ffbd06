// Bench "shared" of a GPU: the bandwidth of the multiprocessors' shared memory, all of them together.
//
// Launched    one kernel of resident blocks; each thread reads or writes its own 16 bytes of four rows, again and again. How many
//             blocks at once is found by trying.
// Saturates   the banks of shared memory; no two threads of a warp meet in one.
// Bytes       those that the instructions read or write.
// Time        device events; the clock is read by the kernel itself.
// Falsified   if any thread's sum differs from the host's; if the machine code of the loop holds accesses narrower than 16 bytes.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// `nvml` may be null.
std::unique_ptr<Bench> shared_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
