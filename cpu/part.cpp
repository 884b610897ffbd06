// The CPU part: fills in the machine's description and adds the CPU's benches.
#include "cpu/counters/step_counters.hpp"
#include "cpu/host_monitor.hpp"
#include "cpu/probes/choices.hpp"
#include "cpu/probes/probes.hpp"
#include "cpu/rapl.hpp"
#include "cpu/topology.hpp"
#include "ert/method/bench/bench_registry.hpp"

namespace roof {

void add_cpu(BenchRegistry& registry)
{
    cpu::Topology topology = cpu::read_topology();
    registry.machine() = std::move(topology.machine);
    if (auto inconsistency = cpu::sweep_inconsistency(registry.machine()))
        registry.machine().inconsistencies.push_back(std::move(*inconsistency));
    registry.add(cpu::step_counters(registry.machine()));
    const cpu::ProbeContext context{std::move(topology.processors), std::move(topology.nodes),
                                    std::move(topology.thread_counts),
                                    std::make_shared<cpu::CoreHistory>(std::move(topology.alike))};
    registry.watch_host_with([history = context.history] { return cpu::host_monitor(history); });
    registry.measure_power_with("cpu", [](const Device&) { return cpu::rapl_meter(); });
    for (const auto& make : {cpu::flops_bench, cpu::bandwidth_bench, cpu::latency_bench, cpu::core_to_core_bench,
                             cpu::numa_bench, cpu::ert_bench})
        registry.add(make(context));
}

}  // namespace roof
