// Probe "numa": the bandwidth of memory from the processors of one NUMA node to the memory of another, or of the same.
//
// Launched: what probe "bandwidth" launches, on all usable processors nearest to `cpu_node`, over arrays whose pages are
//   bound to `memory_node`. The nodes are numbered from 0 in the order of the system's own numbers.
// Saturates: the memory of the node, or the links on the way there.
// Counts: as probe "bandwidth" does.
// Falsified by: what falsifies that; or a page that lies on another node than it was bound to.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::cpu {

std::unique_ptr<Bench> numa_bench(const ProbeContext& context);

}  // namespace roof::cpu
