// The CPU part: lays the ground of the machine document and brings the CPU's ceilings.
#include "cpu/counters/step_counters.hpp"
#include "cpu/probes/bandwidth.hpp"
#include "cpu/probes/ert.hpp"
#include "cpu/probes/flops.hpp"
#include "cpu/probes/handover.hpp"
#include "cpu/probes/latency.hpp"
#include "cpu/probes/numa.hpp"
#include "cpu/probes/working_sets.hpp"
#include "cpu/topology.hpp"
#include "cpu/watch.hpp"
#include "ert/method/lab/lab.hpp"

namespace roof {

void add_cpu(Lab& lab)
{
    cpu::Topology topology = cpu::read_topology();
    lab.machine() = std::move(topology.machine);
    if (auto doubt = cpu::doubt_about_sweep(lab.machine())) lab.machine().doubts.push_back(std::move(*doubt));
    lab.add(cpu::step_counters(lab.machine()));
    const auto history = std::make_shared<cpu::CoreHistory>();
    const auto workspace = std::make_shared<cpu::Workspace>();
    lab.add(std::make_unique<cpu::FlopsBench>(topology.processors, history));
    lab.add(std::make_unique<cpu::BandwidthBench>(topology.processors, history, workspace));
    lab.add(std::make_unique<cpu::LatencyBench>(topology.processors, history, workspace));
    lab.add(std::make_unique<cpu::HandoverBench>(topology.processors, history));
    lab.add(std::make_unique<cpu::NumaBench>(std::move(topology.nodes), history));
    lab.add(std::make_unique<cpu::ErtBench>(std::move(topology.processors), history, workspace));
}

}  // namespace roof
