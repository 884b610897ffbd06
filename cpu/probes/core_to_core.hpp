// Probe "core_to_core": the time to transfer a line from one core to another. Cores with a common last-level cache
// transfer it there; between last-level caches it takes longer. If a host migrates its guest's vCPUs, two times appear,
// and with several threads also two rates of the last-level cache and of memory.
//
// Launched: two threads, each on its core, that write one line in turns: each waits until it reads the other's number,
//   and writes the next.
// Saturates: nothing; one line is transferred at a time.
// Counts: a line of 64 bytes per transfer, so seconds x 64 / bytes is the time of one transfer.
// Falsified by: a last number that differs from the number of transfers.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::cpu {

std::unique_ptr<Bench> core_to_core_bench(const ProbeContext& context);

}  // namespace roof::cpu
