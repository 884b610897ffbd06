// Probe "bandwidth" as a bench: its axes, reasons for unsupported points, and the declared work.
#include "cpu/kernels/forms.hpp"
#include "cpu/probes/choices.hpp"
#include "cpu/probes/probes.hpp"
#include "cpu/probes/stream_subject.hpp"
#include "ert/base/error.hpp"
#include "ert/method/plan/plan.hpp"
#include "tests/cpu/probe_bed.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cpu;
using namespace roof::cpu::test;
using Catch::Matchers::Contains;

namespace {

const Processors two{{0, 1}, {0, 1}};

std::optional<std::string> unsupported_reason(const Machine& machine, const Point& at)
{
    return bandwidth_bench(context(two))->unsupported_reason(at, machine, machine.devices.front());
}

}  // namespace

TEST_CASE("an instruction set that the machine lacks is unsupported, with a reason")
{
    const auto reason = unsupported_reason(
        small_machine(), point({{"operation", "load"}, {"isa", "avx2"}, {"threads", "1"}, {"working_set", "65536"}}));
    CHECK_THAT(reason.value_or(""), Contains("avx2") && Contains("scalar, sse"));
}

TEST_CASE("more threads than allowed, and a working set of less than 512 bytes an array, are unsupported")
{
    const auto at = [&](const char* threads, const char* bytes) {
        return unsupported_reason(
            small_machine(),
            point({{"operation", "triad"}, {"isa", "best"}, {"threads", threads}, {"working_set", bytes}}));
    };
    CHECK_FALSE(at("2", "8192"));
    CHECK_THAT(at("3", "8192").value_or(""), Contains("2 hardware threads"));
    CHECK_FALSE(at("2", "3072"));
    CHECK_THAT(at("2", "3066").value_or(""), Contains("512 bytes"));
}

TEST_CASE("threads can share a core only if cores have several hardware threads")
{
    Machine machine = small_machine();
    const auto at = point(
        {{"operation", "load"}, {"isa", "best"}, {"threads", "2"}, {"placement", "siblings"}, {"working_set", "8192"}});
    CHECK(unsupported_reason(machine, at) == "one hardware thread per core");
    machine.smt = 2;
    CHECK_FALSE(unsupported_reason(machine, at));
}

TEST_CASE("threads on one core share its resources")
{
    Machine machine = small_machine();
    machine.cores = 2;
    CHECK(resources_in_cores(point({{"threads", "2"}}), machine) == Resources::their_own);
    CHECK(resources_in_cores(point({{"threads", "3"}}), machine) == Resources::shared);
    CHECK(resources_in_cores(point({{"threads", "2"}, {"placement", "siblings"}}), machine) == Resources::shared);
}

TEST_CASE("the point sets the order in which threads use the processors")
{
    const Processors all{{0, 2, 1, 3}, {0, 1, 2, 3}};
    CoreHistory history;
    CHECK(processors_for(point({{"threads", "1"}}), all, history) == std::vector<int>{0});
    CHECK(processors_for(point({{"threads", "2"}}), all, history) == std::vector<int>{0, 2});
    CHECK(processors_for(point({{"threads", "2"}, {"placement", "cores"}}), all, history) == std::vector<int>{0, 2});
    CHECK(processors_for(point({{"threads", "2"}, {"placement", "siblings"}}), all, history) == std::vector<int>{0, 1});
    CHECK_THROWS_AS(processors_for(point({{"threads", "5"}}), all, history), Unsupported);
}

TEST_CASE("scalars have no non-temporal stores")
{
    const auto at = [](const char* isa) {
        return point({{"operation", "copy_nt"}, {"isa", isa}, {"threads", "1"}, {"working_set", "65536"}});
    };
    CHECK_THAT(unsupported_reason(small_machine(), at("scalar")).value_or(""), Contains("non-temporal"));
    CHECK_FALSE(unsupported_reason(small_machine(), at("best")));
}

TEST_CASE("the best instruction set is searched among the two widest with vectors")
{
    const auto names = [](const std::vector<std::string>& words) {
        Machine machine;
        machine.isa = words;
        std::vector<std::string> found;
        for (const Isa& isa : isas_for(best_isa, machine)) found.emplace_back(isa.name);
        return found;
    };
    using Words = std::vector<std::string>;
    CHECK(names({"scalar", "sse", "avx2", "avx512"}) == Words{"avx2", "avx512"});
    CHECK(names({"scalar", "sse"}) == Words{"sse"});
    CHECK(names({"scalar"}) == Words{"scalar"});
    CHECK(names({}).empty());
}

TEST_CASE("a machine that reports nothing still has a sweep")
{
    Machine machine;
    machine.devices.resize(1);
    machine.devices.front().name = "cpu";
    const std::vector<Axis> axes = bandwidth_bench(context(two))->axes(machine);
    for (const Axis& one : axes) CHECK_FALSE(one.defaults.empty());
    CHECK(axis(axes, "isa").defaults == std::vector<std::string>{"best"});
    CHECK(unsupported_reason(
        machine, point({{"operation", "load"}, {"isa", "best"}, {"threads", "1"}, {"working_set", "8192"}})));
}

TEST_CASE("a plan names an operation on arrays, or writes it as text")
{
    const std::vector<Axis> axes = bandwidth_bench(context(two))->axes(read_topology().machine);
    const Axis& operation = axis(axes, "operation");
    CHECK(checked_value(operation, "triad", "p.yaml:3") == "triad");
    CHECK(checked_value(operation, "a[i] = b[i] + s * c[i]", "p.yaml:3") == "triad");
    CHECK(checked_value(operation, "y[i] += alpha * x[i]", "p.yaml:3") == "y[i]+=alpha*x[i]");
    CHECK_THROWS_WITH(checked_value(operation, "a[i] = b[i] / s", "p.yaml:3"),
                      Contains("p.yaml:3: operation 'a[i] = b[i] / s': column 13"));
}

TEST_CASE("a bandwidth subject launches, passes its check and declares whole passes over its memory")
{
    const Topology topology = read_topology();
    const auto bench = bandwidth_bench(context(topology.processors));
    const auto threads =
        std::to_string(std::min(topology.machine.threads, 2));  // of many, a pass may take several launches
    std::vector<ArrayOperation> operations = usual_array_operations();
    for (const char* text : {"y[i] += alpha * x[i]", "dot += a[i] * b[i]", "a[i] = b[i] + c[i] * d[i]"})
        operations.push_back(parse_array_operation(text));
    for (const ArrayOperation& stream : operations) {
        for (const char* pages : {"huge", "small"}) {
            CAPTURE(stream.name, pages);
            const auto at = point({{"operation", std::string(stream.name)},
                                   {"isa", "best"},
                                   {"threads", threads},
                                   {"pages", pages},
                                   {"working_set", "100000"}});
            const auto subject = bench->make(at, topology.machine, topology.machine.devices.front());
            launch_and_check(*subject);
            const Work work = subject->work();
            CHECK(subject->memory().value <= 100000);
            CHECK(subject->memory().value > 85000);
            const double passes = work.compulsory.value * stream.arrays() / stream.moves() / subject->memory().value;
            CHECK(passes == static_cast<double>(static_cast<long long>(passes)));
            CHECK(work.no_reuse == work.compulsory);
            CHECK(work.tells_reads_from_writes());
            CHECK(work.read.value * stream.stores == work.written.value * stream.loads());
            CHECK(work.flops.value == work.compulsory.value * stream.flops() / (8 * stream.moves()));
            CHECK_FALSE(subject->variant().empty());
        }
    }
}

TEST_CASE("a point can be measured again, in other memory and after other operations on it")
{
    const Topology topology = read_topology();
    ProbeContext shared = context(topology.processors);
    for (int round = 0; round < 4; ++round) {
        shared.history = std::make_shared<CoreHistory>();
        const auto bench = bandwidth_bench(shared);  // has no checked point yet
        for (const char* operation : {"load", "update", "copy", "accumulate_two", "store", "triad", "load"}) {
            CAPTURE(round, operation);
            const auto at = point({{"operation", operation},
                                   {"isa", "sse"},
                                   {"threads", "1"},
                                   {"working_set", "3000000"},
                                   {"round", std::to_string(round)}});
            CHECK_NOTHROW(launch_and_check(*bench->make(at, topology.machine, topology.machine.devices.front())));
        }
    }
}

TEST_CASE("a working set larger than memory is out of memory, and the bench continues")
{
    const Topology topology = read_topology();
    const auto bench = bandwidth_bench(context(topology.processors));
    const auto at = [&](const std::string& bytes) {
        return bench->make(point({{"operation", "load"}, {"isa", "sse"}, {"threads", "1"}, {"working_set", bytes}}),
                           topology.machine, topology.machine.devices.front());
    };
    const double memory = topology.machine.devices.front().memory.value;
    CHECK_THROWS_AS(at(std::to_string(static_cast<long long>(2 * memory))), OutOfMemory);
    CHECK_NOTHROW(launch_and_check(*at("8192")));
}
