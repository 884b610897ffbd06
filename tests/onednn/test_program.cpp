// Accounting: every operation belongs to a part, so the times of the parts add up to the time of the step.
#include "workloads/onednn/program/program.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::onednn;

TEST_CASE("The time of every operation belongs to a part, in the order of the phases")
{
    double now = 0;
    const Clock clock = [&now] { return Seconds{now}; };
    Program program(dnnl::engine(dnnl::engine::kind::cpu, 0));
    const Tensor tensor = program.resident(plain({16}));
    const auto taking = [&](double seconds) { program.append([&now, seconds] { now += seconds; }, {tensor}, "test"); };
    program.begin("one", "test", Phase::forward);
    taking(5);
    taking(6);
    program.begin("one", "test", Phase::backward);
    taking(7);
    program.begin("sgd", "sgd", Phase::update);
    taking(11);
    program.place("a test");

    Trace trace(clock, program.parts().size());
    for (const Phase phase : {Phase::forward, Phase::backward, Phase::update}) program.run(phase, trace);
    CHECK(now == 29);
    double sum = 0;
    for (const Seconds seconds : trace.part_seconds()) sum += seconds.value;
    CHECK(sum == now);
    CHECK(trace.part_seconds().front() == Seconds{11});
}

TEST_CASE("The plan lists each operation and reorder with its layouts and bytes")
{
    Program program(dnnl::engine(dnnl::engine::kind::cpu, 0));
    program.begin("layer", "test", Phase::forward);
    const Tensor from = program.tensor(plain({4, 32}));
    const Desc turned({4, 32}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ba);
    CHECK(program.in_layout(from, from.desc()).block == from.block);
    CHECK(program.in_layout(from, turned).block != from.block);
    program.place("a test");
    const std::vector<TimedPart> parts = program.parts();
    REQUIRE(parts.front().operations.size() == 1);
    CHECK(parts.front().operations[0].implementation.starts_with("reorder "));
    CHECK(parts.front().operations[0].operands == "from fp32 ab, to fp32 ba");
    CHECK(parts.front().operations[0].bytes.value == 2 * 4 * 32 * sizeof(float));
}
