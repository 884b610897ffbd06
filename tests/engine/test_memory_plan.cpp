#include "workloads/engine/program.hpp"

#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

using roof::Bytes;
using roof::engine::MemoryPlan;
using roof::engine::StepMemory;

TEST_CASE("Blocks with separate lifetimes share memory")
{
    MemoryPlan plan;
    const int early = plan.add(4096);
    const int late = plan.add(4096);
    for (const int moment : {0, 1}) plan.use(early, moment);
    for (const int moment : {2, 3}) plan.use(late, moment);
    CHECK(plan.lay_out() == 4096);
    CHECK(plan.offset(early) == plan.offset(late));
}

TEST_CASE("Blocks of one operation do not overlap")
{
    MemoryPlan plan;
    const int source = plan.add(4096);
    const int result = plan.add(1024);
    plan.use(source, 0);
    plan.use(source, 1);
    plan.use(result, 1);
    CHECK(plan.lay_out() == 4096 + 1024);
}

TEST_CASE("A block keeps its memory from its first to its last use")
{
    MemoryPlan plan;
    const int kept = plan.add(1024);
    const int between = plan.add(1024);
    plan.use(kept, 0);
    plan.use(between, 5);
    plan.use(kept, 9);
    CHECK(plan.lay_out() == 2048);
    CHECK(plan.offset(kept) != plan.offset(between));
}

TEST_CASE("A kept block shares no memory")
{
    MemoryPlan plan;
    const int weights = plan.add(1024);
    const int scratch = plan.add(1024);
    plan.keep(weights);
    plan.use(scratch, 7);
    CHECK(plan.lay_out() == 2048);
}

TEST_CASE("A gap between other blocks is used if it is large enough")
{
    MemoryPlan plan;
    const int large = plan.add(4096);
    const int middle = plan.add(2048);
    const int small = plan.add(1024);
    plan.use(large, 0);
    plan.use(middle, 0);
    plan.use(middle, 1);
    plan.use(small, 1);
    CHECK(plan.lay_out() == 4096 + 2048);
    CHECK(plan.offset(small) + 1024 <= plan.offset(middle));
}

TEST_CASE("Every block is aligned to 256 bytes, which cuBLASLt needs for matrices and workspaces")
{
    MemoryPlan plan;
    const int small = plan.add(100);
    const int other = plan.add(129);
    for (const int block : {small, other}) plan.keep(block);
    plan.lay_out();
    CHECK(plan.offset(small) % 256 == 0);
    CHECK(plan.offset(other) % 256 == 0);
}

TEST_CASE("An unused block takes no memory")
{
    MemoryPlan plan;
    plan.add(1 << 20);
    CHECK(plan.lay_out() == 0);
}

TEST_CASE("The memory of a step is that of its ranks with their programs, and more than there is is refused")
{
    const StepMemory two{.held = Bytes{30e6}, .taken = Bytes{200e6}, .ranks = 2};
    CHECK(two.whole() == Bytes{2 * (30e6 + 200e6 + 2'097'152)});
    CHECK_NOTHROW(two.require("training"));
    const StepMemory large{.held = Bytes{30e6}, .taken = Bytes{1e18}};
    try {
        large.require("training a network");
        FAIL("no exception");
    } catch (const roof::OutOfMemory& error) {
        CHECK(error.wanted == large.whole());
        CHECK(error.available.value >= 30e6);
        CHECK(error.available.value < 1e18);
        CHECK_THAT(error.what(), Catch::Contains("training a network needs"));
    }
}
