// Probe "numa": the bandwidth of memory from the processors of one NUMA node to the memory of another, or of the same.
//
// Launched: the loops of probe "bandwidth", on all usable processors nearest to `cpu_node`, over arrays whose pages are
//   bound to `memory_node`. Nodes are numbered from 0 in the order of the system's numbers.
// Saturates: the memory of the node, or the links to it.
// Counts: the same as probe "bandwidth".
// Falsified by: the same as probe "bandwidth"; a page on another node than the one it was bound to.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::cpu {

std::unique_ptr<Bench> numa_bench(const ProbeContext& context);

}  // namespace roof::cpu
