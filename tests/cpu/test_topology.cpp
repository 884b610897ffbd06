// The machine document of this machine: properties that hold on every machine.
#include "cpu/isa.hpp"
#include "cpu/topology.hpp"
#include "ert/method/bench/bench_registry.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include <sched.h>
#include <unistd.h>

namespace roof {
void add_cpu(BenchRegistry& registry);
}

using namespace roof;

TEST_CASE("the processors are those the affinity mask allows, each once")
{
    const cpu::Layout layout = cpu::read_layout();
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    const std::set<int> distinct(layout.processors.spread.begin(), layout.processors.spread.end());
    CHECK(distinct.size() == layout.processors.spread.size());
    CHECK(static_cast<int>(distinct.size()) == CPU_COUNT(&allowed));
    for (const int processor : distinct) CHECK(CPU_ISSET(processor, &allowed));
    CHECK(layout.cores <= layout.threads);
    CHECK(layout.threads <= layout.machine_threads);
}

TEST_CASE("a smaller affinity mask makes a smaller machine, and is reported")
{
    cpu_set_t before;
    CPU_ZERO(&before);
    sched_getaffinity(0, sizeof before, &before);
    const int last = cpu::read_layout().processors.spread.back();
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(last, &only);
    sched_setaffinity(0, sizeof only, &only);
    const cpu::Topology topology = cpu::read_topology();
    sched_setaffinity(0, sizeof before, &before);

    CHECK(topology.processors.spread == std::vector<int>{last});
    CHECK(topology.machine.threads == 1);
    CHECK(topology.machine.cores == 1);
    if (CPU_COUNT(&before) > 1) {
        const auto says_so = [](const std::string& inconsistency) {
            return inconsistency.find("affinity") != std::string::npos;
        };
        CHECK(std::any_of(topology.machine.inconsistencies.begin(), topology.machine.inconsistencies.end(), says_so));
    }
}

TEST_CASE("the part fills in the machine and adds its benches")
{
    BenchRegistry registry;
    add_cpu(registry);
    const Machine& machine = registry.machine();
    CHECK(registry.find("flops", "cpu") != nullptr);
    CHECK(registry.find("bandwidth", "cpu") != nullptr);
    CHECK(machine.isa.front() == "scalar");
    CHECK(machine.threads >= 1);
    CHECK_FALSE(machine.vendor.empty());
    for (const char* name : {"kernel", "compiler", "hwloc"}) CHECK_FALSE(machine.versions.at(name).empty());
    const Device& device = machine.device("cpu");
    CHECK(device.levels.back().name == "DRAM");
    CHECK(device.memory.value > 0);
    CHECK(device.memory_available <= device.memory);
    for (const Capability& capability : machine.capabilities) {
        CAPTURE(capability.name);
        CHECK_FALSE(capability.reason.empty());
    }
}

TEST_CASE("the machine's name is a slug of its model, not the host's name")
{
    const std::string name = cpu::read_topology().machine.name;
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
    CHECK(name.find("-family") != std::string::npos);
    CHECK(name != host);
}
