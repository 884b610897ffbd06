// Probe "core_to_core": how long a line takes from one core to another. Two cores under one last cache hand it over there; from one
// last cache to another it goes the longer way by memory's side. A machine that moves its processors about, as hosts do with
// those of their guests, has two answers: and with them two rates of the last cache and of memory, when several threads ask.
//
// Launched: two threads, each on its core, that write one line in turns: each waits until it reads the other's number, and
//   writes the next.
// Saturates: nothing: one line is under way at a time.
// Counts: a line of 64 bytes for each handover, so seconds x 64 / bytes is the time of one.
// Falsified by: a last number that is not that of the handovers asked for.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::cpu {

std::unique_ptr<Bench> core_to_core_bench(const ProbeContext& context);

}  // namespace roof::cpu
