// The benches of the CPU, and the resources that they share. The source file of each begins with its contract: what is
// launched and counted, and what would falsify it.
#pragma once

#include "cpu/noise_monitor.hpp"
#include "cpu/topology.hpp"
#include "cpu/workspace.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// The workspace is shared: of all subjects made from one context, only the last one may be launched.
struct ProbeContext {
    Processors processors;
    std::vector<MemoryNode> nodes;
    std::vector<int> thread_counts;  ///< to measure by default; empty: one, and all that this process may use
    std::shared_ptr<CoreHistory> history = std::make_shared<CoreHistory>();
    std::shared_ptr<Workspace> workspace = std::make_shared<Workspace>();
};

std::unique_ptr<Bench> bandwidth_bench(const ProbeContext& context);
std::unique_ptr<Bench> core_to_core_bench(const ProbeContext& context);
std::unique_ptr<Bench> ert_bench(const ProbeContext& context);
std::unique_ptr<Bench> flops_bench(const ProbeContext& context);
std::unique_ptr<Bench> latency_bench(const ProbeContext& context);
std::unique_ptr<Bench> numa_bench(const ProbeContext& context);

/// FLOPs per byte of the bench "ert", from "1/32" to "16". Throws InputError with the legal values.
double parse_intensity(std::string_view name);

}  // namespace roof::cpu
