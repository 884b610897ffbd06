// The pointer chase: one cycle through all lines, in random order.
#include "cpu/kernels/chase.hpp"
#include "cpu/probes/probes.hpp"
#include "ert/base/error.hpp"
#include "tests/cpu/probe_bed.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>

using namespace roof;
using namespace roof::cpu;
using namespace roof::cpu::test;

namespace {

/// The first lines of a chase, in its order.
std::vector<std::size_t> measured(const std::byte* memory, std::size_t steps)
{
    std::vector<std::size_t> lines;
    const std::byte* at = memory;
    for (std::size_t i = 0; i < steps; ++i) {
        lines.push_back(static_cast<std::size_t>(at - memory) / chase_line);
        std::memcpy(&at, at, sizeof at);
    }
    return lines;
}

}  // namespace

TEST_CASE("a chase visits every line once and ends at its start")
{
    for (const std::size_t lines : {16, 17, 1000, 4096}) {
        const Buffer memory(lines * chase_line, "a test");
        CHECK(link_lines(memory.data(), lines, lines) == memory.data());
        const std::vector<std::size_t> order = measured(memory.data(), lines + 1);
        CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == lines);
        CHECK(order.back() == 0);
    }
}

TEST_CASE("the lines of a chase follow no stride")
{
    constexpr std::size_t lines = 4096;
    const Buffer memory(lines * chase_line, "a test");
    link_lines(memory.data(), lines, 0);
    const std::vector<std::size_t> order = measured(memory.data(), lines);
    std::set<std::ptrdiff_t> strides;
    for (std::size_t i = 1; i < lines; ++i) {
        strides.insert(static_cast<std::ptrdiff_t>(order[i]) - static_cast<std::ptrdiff_t>(order[i - 1]));
    }
    CHECK(strides.size() > lines / 2);
}

TEST_CASE("the generated chase ends at the expected line")
{
    constexpr std::size_t lines = 1024;
    const Buffer memory(lines * chase_line, "a test");
    const std::byte* const mark = link_lines(memory.data(), lines, 160);
    const ChaseKernel kernel;
    CHECK(kernel.run(160, memory.data()) == mark);
    CHECK(kernel.run(lines, memory.data()) == memory.data());
    CHECK(kernel.run(16, memory.data()) == memory.data() + measured(memory.data(), 17).back() * chase_line);
}

TEST_CASE("a latency subject launches, passes its check and declares a line for each load")
{
    const Topology topology = read_topology();
    const auto bench = latency_bench(context(topology.processors));
    for (const char* pages : {"huge", "small"}) {
        for (const char* bytes : {"1024", "100000", "16777216"}) {
            const auto at = point({{"pages", pages}, {"working_set", bytes}});
            const auto subject = bench->make(at, topology.machine, topology.machine.devices.front());
            launch_and_check(*subject);
            const double loads = subject->work().compulsory.value / chase_line;
            CHECK(loads >= 1);
            CHECK(loads == static_cast<double>(static_cast<long long>(loads)));
            CHECK(subject->memory().value <= std::stod(bytes));
            CHECK(subject->work().flops.value == 0);
        }
    }
}

TEST_CASE("a working set below one iteration of the chase is unsupported")
{
    const auto bench = latency_bench(context({{0}, {0}}));
    const Machine machine = small_machine();
    CHECK(bench->unsupported_reason(point({{"working_set", "1000"}}), machine, machine.devices.front()));
    CHECK_FALSE(bench->unsupported_reason(point({{"working_set", "1024"}}), machine, machine.devices.front()));
}
