// Probe "bandwidth": the rate of bytes between the registers and the level of memory that holds the working set.
//
// Launched: on every thread, a generated loop over its own arrays, repeatedly. The working set is the sum over all
//   arrays and threads; a sweep from 8 KiB up covers every cache and memory. Trials choose the width of loads and
//   stores and the form of the loop (forms.hpp); the row's variant names them. Each round uses different pages.
// Saturates: the load and store ports while the set fits L1; beyond, the path to the level that holds it. The sweep
//   alone decides which level that is; reported cache sizes are not used.
// Counts: the bytes that the instructions read and write, per 8-byte element: load 8, store 8, copy 16, update (in
//   place) 16, accumulate 24, accumulate_two 32, triad 24 (and 2 FLOPs). Not counted: the line that a missing store reads first (write-allocate) and
//   useless prefetches. So store, copy and triad move up to twice, 3/2 and 4/3 of their count beyond the caches.
//   Non-temporal stores (store_nt, copy_nt) read no line first; a launch ends when they have left the processor's
//   buffers.
// Falsified by: a loaded word, sum, copy, update or triad that differs from the host's by one bit, in the first round of
//   a point with a variant; a loop whose decoded loads and stores are not those counted; an L1 rate above ports x width
//   x clock.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::cpu {

std::unique_ptr<Bench> bandwidth_bench(const ProbeContext& context);

}  // namespace roof::cpu
