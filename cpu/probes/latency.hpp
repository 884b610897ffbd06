// Probe "latency": how long one load takes to come from whichever level of memory holds the working set.
//
// Launched: on one thread, a pointer chase through all 64-byte lines of the working set in one random cycle; a launch goes on
//   where the last one ended.
// Saturates: nothing. No load can start before the last has come, so only the way there and back counts. With small pages,
//   the look-up of the address counts as well, once the pages are more than the processor remembers.
// Counts: a line of 64 bytes for each load, so seconds x 64 / bytes is the time of a load.
// Falsified by: a chase that is not where the random order says after so many steps (after as many as there are lines: at its
//   start), or is there before; a time below what the processor's guide says of L1.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::cpu {

std::unique_ptr<Bench> latency_bench(const ProbeContext& context);

}  // namespace roof::cpu
