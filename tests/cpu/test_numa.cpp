// Probe "numa" on machines with one node and with several.
#include "cpu/probes/probes.hpp"
#include "ert/base/error.hpp"
#include "tests/cpu/probe_bed.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cpu;
using namespace roof::cpu::test;
using Catch::Matchers::Contains;

namespace {

const std::vector<MemoryNode> two_nodes{{0, {{0, 1}, {0, 1}}}, {4, {{}, {}}}};

std::optional<std::string> unsupported_reason(const std::vector<MemoryNode>& nodes, const char* cpu, const char* memory)
{
    const Machine machine = small_machine();
    return numa_bench(context({}, nodes))
        ->unsupported_reason(
            point({{"operation", "load"}, {"cpu_node", cpu}, {"memory_node", memory}, {"working_set", "67108864"}}),
            machine, machine.devices.front());
}

}  // namespace

TEST_CASE("a machine with one node is unsupported")
{
    CHECK_THAT(unsupported_reason({{0, {{0, 1}, {0, 1}}}}, "0", "0").value_or(""), Contains("one NUMA node"));
}

TEST_CASE("nodes are numbered from zero, and a node without usable processors is unsupported")
{
    CHECK_FALSE(unsupported_reason(two_nodes, "0", "0"));
    CHECK_FALSE(unsupported_reason(two_nodes, "0", "1"));
    CHECK_THAT(unsupported_reason(two_nodes, "0", "2").value_or(""), Contains("2 NUMA nodes"));
    CHECK_THAT(unsupported_reason(two_nodes, "1", "0").value_or(""), Contains("no processor"));
}

TEST_CASE("the first usable node of each socket is paired with every node, at one working set in memory")
{
    const Processors some{{0, 1}, {0, 1}};
    const std::vector<MemoryNode> nodes{{0, {}, 0}, {1, some, 0}, {2, some, 0}, {3, some, 1}, {4, some, 1}};
    const auto defaults = [](const std::vector<MemoryNode>& of, const char* name) {
        return axis(numa_bench(context({}, of))->axes(small_machine()), name).defaults;
    };
    using Words = std::vector<std::string>;
    CHECK(defaults(nodes, "cpu_node") == Words{"1", "3"});
    CHECK(defaults(nodes, "memory_node") == Words{"0", "1", "2", "3", "4"});

    const std::vector<Axis> axes = numa_bench(context({}, two_nodes))->axes(small_machine());
    CHECK(axis(axes, "cpu_node").defaults == Words{"0"});  // the other has no processors
    CHECK(axis(axes, "memory_node").defaults == std::vector<std::string>{"0", "1"});
    CHECK(axis(axes, "working_set").defaults == std::vector<std::string>{std::to_string(256 << 20)});
}

TEST_CASE("memory bound to a node is streamed and checked, and a missing node is an error")
{
    const Topology topology = read_topology();
    const int first = topology.nodes.front().number;
    const Processors& processors = topology.processors;
    const auto bench = numa_bench(context({}, {{first, processors}, {1000, processors}}));
    const auto make = [&](const char* memory) {
        const auto at =
            point({{"operation", "copy"}, {"cpu_node", "0"}, {"memory_node", memory}, {"working_set", "4000000"}});
        return bench->make(at, topology.machine, topology.machine.devices.front());
    };
    CHECK_THROWS_AS(make("1"), Unsupported);
    try {
        launch_and_check(*make("0"));
    } catch (const Unsupported& error) {
        CHECK_THAT(error.what(), Contains("NUMA node"));  // a sandbox may forbid the binding
    }
}
