// Probe "latency": the time of one load from the level of memory that holds the working set.
//
// Launched: on one thread, a pointer chase through all 64-byte lines of the working set in one random cycle. Each
//   launch continues where the last one ended.
// Saturates: nothing. A load starts only after the previous one has completed. With small pages the time includes
//   address translation, once the pages exceed the TLB.
// Counts: a line of 64 bytes per load, so seconds x 64 / bytes is the time of a load.
// Falsified by: a chase that is not at the expected line after a number of steps (after one cycle: at its start), or is
//   there too early; a time below the guide's figure for L1.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::cpu {

std::unique_ptr<Bench> latency_bench(const ProbeContext& context);

}  // namespace roof::cpu
