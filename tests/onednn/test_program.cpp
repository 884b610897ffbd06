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

TEST_CASE("Numbers in one order are copied without oneDNN, in any precisions; others are not")
{
    const auto in = [](dnnl::memory::format_tag format, const Dims& dims, Precision precision) {
        return in_format(dims, format, precision);
    };
    constexpr auto blocks = dnnl::memory::format_tag::aBcd16b;
    constexpr auto last = dnnl::memory::format_tag::acdb;
    CHECK(is_in_order(in(blocks, {2, 48, 1, 1}, Precision::bf16)));
    CHECK(is_in_order(in(last, {2, 48, 1, 1}, Precision::bf16)));
    CHECK_FALSE(is_in_order(in(blocks, {2, 40, 1, 1}, Precision::bf16)));  // has gaps
    CHECK_FALSE(is_in_order(in(blocks, {2, 48, 1, 3}, Precision::bf16)));
    CHECK_FALSE(is_in_order(in(last, {2, 48, 1, 3}, Precision::bf16)));
    CHECK_FALSE(is_in_order(rows({4, 48}, 64)));

    Program program(dnnl::engine(dnnl::engine::kind::cpu, 0));
    program.begin("layer", "test", Phase::forward);
    const Tensor from = program.resident(plain({2, 48, 1, 1}));
    const Tensor half = program.in_layout(from, in(blocks, {2, 48, 1, 1}, Precision::bf16));
    const Tensor back = program.resident(plain({2, 48, 1, 1}));
    program.reorder(half, back);
    program.in_layout(from, in(blocks, {2, 48, 1, 1}, Precision::fp32));
    program.place("a test");
    for (int k = 0; k < 96; ++k) from.data()[k] = 1 + static_cast<float>(k) / 256;  // bf16 has steps of 1/128 here
    const Clock clock = [] { return Seconds{}; };
    Trace trace(clock, program.parts().size());
    program.run(Phase::forward, trace);
    const std::vector<TimedPart> parts = program.parts();
    CHECK(parts.front().operations.size() == 3);
    for (const Operation& operation : parts.front().operations) CHECK(operation.implementation == "reorder roof");
    for (int k = 0; k < 96; ++k) {
        const int even = k % 2 == 0 ? k : k % 4 == 1 ? k - 1 : k + 1;  // ties go to the even step
        CHECK(back.data()[k] == 1 + static_cast<float>(even) / 256);
    }
}
