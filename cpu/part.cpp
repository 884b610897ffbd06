// The CPU part: lays the ground of the machine document and brings the CPU's ceilings.
#include "cpu/counters/step_counters.hpp"
#include "cpu/noise_monitor.hpp"
#include "cpu/probes/bandwidth.hpp"
#include "cpu/probes/core_to_core.hpp"
#include "cpu/probes/ert.hpp"
#include "cpu/probes/flops.hpp"
#include "cpu/probes/latency.hpp"
#include "cpu/probes/numa.hpp"
#include "cpu/probes/working_sets.hpp"
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
    const auto history = std::make_shared<cpu::CoreHistory>();
    const auto workspace = std::make_shared<cpu::Workspace>();
    registry.add(std::make_unique<cpu::FlopsBench>(topology.processors, history));
    registry.add(std::make_unique<cpu::BandwidthBench>(topology.processors, history, workspace));
    registry.add(std::make_unique<cpu::LatencyBench>(topology.processors, history, workspace));
    registry.add(std::make_unique<cpu::CoreToCoreBench>(topology.processors, history));
    registry.add(std::make_unique<cpu::NumaBench>(std::move(topology.nodes), history));
    registry.add(std::make_unique<cpu::ErtBench>(std::move(topology.processors), history, workspace));
}

}  // namespace roof
