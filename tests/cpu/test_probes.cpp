// The two probes as benches: their axes, what stands in their way, and the work they declare.
#include "cpu/probes/bandwidth.hpp"
#include "cpu/probes/flops.hpp"
#include "cpu/topology.hpp"
#include "ert/base/error.hpp"
#include "ert/method/subject.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cpu;
using Catch::Matchers::Contains;

namespace {

Point point(std::initializer_list<std::pair<std::string, std::string>> values)
{
    Point made;
    for (const auto& [axis, value] : values) made.set(axis, value);
    return made;
}

std::shared_ptr<CoreHistory> history()
{
    return std::make_shared<CoreHistory>();
}

Machine small_machine()
{
    Machine machine;
    machine.isa = {"scalar", "sse"};
    machine.threads = 2;
    machine.devices.resize(1);
    machine.devices.front().name = "cpu";
    machine.devices.front().levels = {{"L1", Bytes{32 << 10}, 2, 1}, {"L2", Bytes{1 << 20}, 2, 1}};
    return machine;
}

const Axis& axis(const std::vector<Axis>& axes, const std::string& name)
{
    return *std::find_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.name == name; });
}

void launch_and_check(Subject& subject)
{
    double now = 0;
    const Clock clock = [&] { return Seconds{now}; };
    Trace trace(clock, 0);
    subject.launch(trace);
    subject.check();
}

}  // namespace

TEST_CASE("an instruction set that the machine lacks is an obstacle with a reason")
{
    const Machine machine = small_machine();
    const FlopsBench flops({0, 1}, history());
    const BandwidthBench bandwidth({0, 1}, history());
    const auto wide = point({{"operation", "add"}, {"isa", "avx512"}, {"precision", "fp64"}, {"threads", "1"}});
    const auto reason = flops.obstacle(wide, machine, machine.devices.front());
    REQUIRE(reason);
    CHECK_THAT(*reason, Contains("avx512") && Contains("scalar, sse"));
    CHECK(
        bandwidth.obstacle(point({{"operation", "load"}, {"isa", "avx2"}, {"threads", "1"}, {"working_set", "65536"}}),
                           machine, machine.devices.front()));
}

TEST_CASE("a machine without fma has the mixes without it")
{
    const Machine machine = small_machine();
    const FlopsBench bench({0, 1}, history());
    const auto at = [&](const char* operation) {
        return bench.obstacle(
            point({{"operation", operation}, {"isa", "sse"}, {"precision", "fp32"}, {"threads", "2"}}), machine,
            machine.devices.front());
    };
    CHECK_FALSE(at("mul+add"));
    CHECK_THAT(at("fma+add").value_or(""), Contains("multiply-add"));
}

TEST_CASE("more threads than may be used, and a working set below one iteration, are obstacles")
{
    const Machine machine = small_machine();
    const BandwidthBench bench({0, 1}, history());
    const auto at = [&](const char* threads, const char* bytes) {
        return bench.obstacle(
            point({{"operation", "triad"}, {"isa", "sse"}, {"threads", threads}, {"working_set", bytes}}), machine,
            machine.devices.front());
    };
    CHECK_FALSE(at("2", "8192"));
    CHECK_THAT(at("3", "8192").value_or(""), Contains("2 hardware threads"));
    CHECK_THAT(at("2", "512").value_or(""), Contains("one iteration"));
}

TEST_CASE("working sets ascend from 8 KiB to four times the largest caches together")
{
    Machine machine = small_machine();
    CHECK(usual_working_sets(machine).back() == std::to_string(256 << 20));
    machine.devices.front().levels.push_back({"L3", Bytes{256 << 20}, 4, 16});
    const std::vector<std::string> sets = usual_working_sets(machine);
    CHECK(sets.front() == "8192");
    CHECK(std::stoll(sets.back()) == 4LL << 30);
    CHECK(std::is_sorted(sets.begin(), sets.end(), [](auto& a, auto& b) { return std::stoll(a) < std::stoll(b); }));
}

TEST_CASE("usual values follow the machine")
{
    Machine machine = small_machine();
    machine.isa = {"scalar", "sse", "avx2", "avx512"};
    CHECK(axis(FlopsBench({0, 1}, history()).axes(machine), "isa").usual == machine.isa);
    CHECK(axis(BandwidthBench({0, 1}, history()).axes(machine), "isa").usual ==
          std::vector<std::string>{"avx2", "avx512"});
    CHECK(axis(FlopsBench({0, 1}, history()).axes(machine), "threads").usual == std::vector<std::string>{"1", "2"});
    machine.threads = 1;
    CHECK(axis(FlopsBench({0}, history()).axes(machine), "threads").usual == std::vector<std::string>{"1"});
}

TEST_CASE("a flops subject launches, passes its check and declares FLOPs alone")
{
    const Topology topology = read_topology();
    const FlopsBench bench(topology.processors, history());
    const auto threads = std::to_string(topology.machine.threads);
    const auto at = point({{"operation", "mul+add"}, {"isa", "sse"}, {"precision", "fp32"}, {"threads", threads}});
    const auto subject = bench.make(at, topology.machine, topology.machine.devices.front());
    const double flops = subject->work().flops.value;
    launch_and_check(*subject);
    CHECK(flops > 0);
    CHECK(subject->work().flops.value == flops);
    CHECK(subject->work().compulsory.value == 0);
}

TEST_CASE("a bandwidth subject launches, passes its check and declares whole passes over its memory")
{
    const Topology topology = read_topology();
    const BandwidthBench bench(topology.processors, history());
    const auto threads = std::to_string(topology.machine.threads);
    for (const char* operation : {"load", "store", "copy", "triad"}) {
        CAPTURE(operation);
        const auto at = point({{"operation", operation},
                               {"isa", topology.machine.isa.back()},
                               {"threads", threads},
                               {"working_set", "1000000"}});
        const auto subject = bench.make(at, topology.machine, topology.machine.devices.front());
        launch_and_check(*subject);
        const Work work = subject->work();
        CHECK(subject->memory().value <= 1000000);
        CHECK(subject->memory().value > 900000);
        const double passes = work.compulsory / subject->memory();
        CHECK(passes == static_cast<double>(static_cast<long long>(passes)));
        CHECK(work.no_reuse == work.compulsory);
        CHECK(work.flops.value == (std::string(operation) == "triad" ? work.compulsory.value / 12 : 0));
    }
}

TEST_CASE("a working set larger than memory is out of memory, and the bench goes on")
{
    const Topology topology = read_topology();
    const BandwidthBench bench(topology.processors, history());
    const auto at = [&](const std::string& bytes) {
        return bench.make(point({{"operation", "load"}, {"isa", "sse"}, {"threads", "1"}, {"working_set", bytes}}),
                          topology.machine, topology.machine.devices.front());
    };
    const double memory = topology.machine.devices.front().memory.value;
    CHECK_THROWS_AS(at(std::to_string(static_cast<long long>(2 * memory))), OutOfMemory);
    CHECK_NOTHROW(launch_and_check(*at("8192")));
}
