// Bench "bandwidth" of a GPU: load, store, copy and triad over a working set, from the L1s to device memory.
//
// Launched    one kernel of resident blocks, as many passes over the arrays as fill the launch length. isa `cuda`: instructions of
//             16 bytes, either each block over a stretch of its own, which its L1 may hold, or all blocks together along the
//             arrays; how, and with how many threads, is found by trying. isa `bulk`: chunks moved by the copy engines, past
//             the L1.
// Saturates   the path to the level that holds the working set: all multiprocessors' parts of it together.
// Bytes       those that the instructions read and write: per word 4 (load, store), 8 (copy), 12 (triad). The L2 writes whole
//             sectors without reading them first, so there is no write-allocate traffic to leave out.
// Time        device events; the clock is read by the kernel itself.
// Falsified   if sums of what was read, or words written, differ from the host's by one bit; if the machine code of the loop
//             holds loads or stores narrower than 16 bytes.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// `nvml` may be null.
std::unique_ptr<Bench> bandwidth_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
