// The CPU part: lays the ground of the machine document and brings the CPU's ceilings.
#include "cpu/probes/bandwidth.hpp"
#include "cpu/probes/flops.hpp"
#include "cpu/topology.hpp"
#include "cpu/watch.hpp"
#include "ert/method/lab.hpp"

namespace roof {

void add_cpu(Lab& lab)
{
    cpu::Topology topology = cpu::read_topology();
    lab.machine() = std::move(topology.machine);
    const auto history = std::make_shared<cpu::CoreHistory>();
    lab.add(std::make_unique<cpu::FlopsBench>(topology.processors, history));
    lab.add(std::make_unique<cpu::BandwidthBench>(topology.processors, history));
}

}  // namespace roof
