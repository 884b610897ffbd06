// Bench "bandwidth" of a GPU: load, store, copy and triad over arrays far larger than its L2.
//
// Launched    one kernel per pass, as many blocks as are resident at once, each thread in strides of the whole grid over
//             16-byte pairs of doubles; a launch is as many passes in a row as fill the launch length.
// Saturates   device memory: the working set is at least `least_l2_multiple` times the L2, so at most that share of a
//             pass can be served from what the pass before left behind.
// Bytes       those the kernel's instructions read and write: per element 8 (load, store), 16 (copy), 24 (triad). The L2
//             writes whole sectors without reading them first, so there is no write-allocate traffic to leave out.
// Time        host clock around the passes and one synchronise; the gap between two kernels, about 1 us, is inside.
// Falsified   if twice the working set gives another rate, or a counter of DRAM bytes differs from the bytes stated.
#pragma once

#include "ert/method/bench.hpp"

#include <memory>

namespace roof::gpu {

std::unique_ptr<Bench> stream_bench();

}  // namespace roof::gpu
