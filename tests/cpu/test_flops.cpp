// Probe "flops": reasons for unsupported points, the chosen variant, and the check of results.
#include "cpu/kernels/operations.hpp"
#include "cpu/probes/probes.hpp"
#include "cpu/topology.hpp"
#include "ert/base/error.hpp"
#include "ert/method/bench/subject.hpp"
#include "tests/cpu/probe_bed.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cpu;
using Catch::Matchers::Contains;

namespace {

Machine machine_with(std::vector<std::string> isa, std::vector<std::string> features)
{
    Machine machine;
    machine.isa = std::move(isa);
    machine.features = std::move(features);
    machine.threads = 2;
    machine.devices.resize(1);
    return machine;
}

Point point(const std::string& operation, const std::string& isa, const std::string& precision,
            const std::string& threads = "1")
{
    Point made;
    made.set("operation", operation);
    made.set("isa", isa);
    made.set("precision", precision);
    made.set("threads", threads);
    return made;
}

std::string why_not(const Point& at, const Machine& machine)
{
    const auto bench = flops_bench({{{0, 1}, {0, 1}}, {}});
    return bench->unsupported_reason(at, machine, machine.devices.front()).value_or("");
}

}  // namespace

TEST_CASE("a contradiction is reported before a missing feature of the machine")
{
    const Machine bare = machine_with({"scalar"}, {});
    CHECK_THAT(why_not(point("fma", "avx512", "int8"), bare), Contains("int8 has the operations"));
    CHECK_THAT(why_not(point("dot", "avx512", "int8"), bare), Contains("cannot run avx512"));
    CHECK_THAT(why_not(point("tile", "amx", "int8"), bare), Contains("does not offer amx_int8"));
    CHECK_THAT(why_not(point("best", "scalar", "fp32", "9"), bare), Contains("hardware threads"));
    CHECK(why_not(point("best", "scalar", "fp32"), bare).empty());
}

TEST_CASE("an instruction set does not imply its later instructions")
{
    const Machine first = machine_with({"scalar", "sse", "avx2", "avx512"}, {"fma"});
    CHECK(why_not(point("fma+add", "avx512", "fp64"), first).empty());
    CHECK_THAT(why_not(point("add", "avx512", "fp16"), first), Contains("avx512_fp16"));
    CHECK_THAT(why_not(point("dot", "avx512", "bf16"), first), Contains("avx512_bf16"));
    CHECK_THAT(why_not(point("dot", "avx2", "int8"), first), Contains("avx_vnni"));
    CHECK_THAT(why_not(point("best", "amx", "bf16"), first), Contains("amx_bf16"));
}

TEST_CASE("tiles are offered if the machine has them")
{
    const auto bench = flops_bench({{{0}, {0}}, {}});
    const std::vector<Axis> without = bench->axes(machine_with({"scalar", "avx512"}, {"fma"}));
    CHECK(axis(without, "isa").defaults == std::vector<std::string>{"scalar", "avx512"});
    CHECK(axis(without, "isa").allowed.back() == "amx");
    const std::vector<Axis> with = bench->axes(machine_with({"scalar", "avx512"}, {"fma", "amx_int8"}));
    CHECK(axis(with, "isa").defaults == std::vector<std::string>{"scalar", "avx512", "amx"});
    CHECK(axis(with, "operation").allowed == operation_names());
}

TEST_CASE("every supported point launches, passes its check and names the fastest variant")
{
    const Topology topology = read_topology();
    const Machine& machine = topology.machine;
    const auto bench = flops_bench({topology.processors, {}});
    const std::vector<Axis> axes = bench->axes(machine);
    const Clock still = [] { return Seconds{}; };
    const std::string threads = std::to_string(std::min(machine.threads, 2));
    int subjects = 0;
    for (const std::string& isa : axis(axes, "isa").defaults) {
        for (const std::string& precision : axis(axes, "precision").allowed) {
            for (const std::string& operation : operation_names()) {
                const Point at = point(operation, isa, precision, threads);
                if (bench->unsupported_reason(at, machine, machine.devices.front())) continue;
                CAPTURE(at.str());
                const auto subject = bench->make(at, machine, machine.devices.front());
                Trace trace(still, 0);
                subject->launch(trace);
                REQUIRE_NOTHROW(subject->check());
                REQUIRE(subject->work().flops.value > 0);
                REQUIRE(subject->work().compulsory.value == 0);
                REQUIRE_THAT(subject->variant(), Contains("chains"));
                REQUIRE(trace.time_taken());
                ++subjects;
            }
        }
    }
    CHECK(subjects >= 14);  // scalar and sse, in two precisions, without fma
}

TEST_CASE("the operations of an integer point are products")
{
    const Machine machine = machine_with({"scalar", "sse", "avx2", "avx512"}, {"fma", "avx512_vnni"});
    for (const std::string& operation : operation_names()) {
        const bool exists = operation == "dot" || operation == "best";
        CHECK(why_not(point(operation, "avx512", "int8"), machine).empty() == exists);
    }
    CHECK_THROWS_AS(why_not(point("fuse", "avx512", "int8"), machine), InputError);
}

TEST_CASE("making a subject that the machine cannot run is an error")
{
    const Machine machine = machine_with({"scalar", "sse", "avx2", "avx512"}, {"fma"});
    const auto bench = flops_bench({{{0}, {0}}, {}});
    CHECK_THROWS_AS(bench->make(point("tile", "amx", "int8"), machine, machine.devices.front()), Unsupported);
}
