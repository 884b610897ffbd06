// Bench "flops" of a GPU: independent chains of fused multiply-adds on the CUDA cores, in fp32 and fp64.
//
// Launched    one kernel of as many blocks as are resident at once; each thread runs `fma_chains` independent chains
//             x = fma(x, factor, addend) over a run-time number of steps, and writes the sum of its chains at the end.
// Saturates   the FMA pipe of the precision; registers only, no memory traffic but one value in and out per thread.
// FLOPs       2 per FMA: 2 * chains * steps * threads. Starting values, final sums and loop counters are not counted.
// Time        host clock around launch and synchronise: some 10 us of launch latency are inside, under 0.1% of a launch.
// Falsified   if the SASS of the loop holds other than FFMA (DFMA) and the loop's counter, or if more chains or threads
//             raise the rate.
#pragma once

#include "ert/method/bench.hpp"

#include <memory>

namespace roof::gpu {

std::unique_ptr<Bench> fma_bench();

}  // namespace roof::gpu
