// Probe "core_to_core": its counts and its conditions.
#include "cpu/probes/probes.hpp"
#include "ert/base/error.hpp"
#include "tests/cpu/probe_bed.hpp"
#include "tests/skip.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace roof;
using namespace roof::cpu;
using namespace roof::cpu::test;

TEST_CASE("each transfer of a line between two cores is counted")
{
    const Processors here = read_layout().processors;
    if (here.spread.size() < 2) return skip("there is one processor here");
    const auto bench = core_to_core_bench(context(here));
    const auto subject = bench->make(point({{"path", "next core"}}), small_machine(), {});
    launch_and_check(*subject);
    const double transfers = subject->work().compulsory.value / 64;
    CHECK(transfers >= 2);
    CHECK(transfers == std::floor(transfers));
    CHECK(subject->work().known == Known::analytic);
}

TEST_CASE("the last core is a default if it differs from the next")
{
    CHECK(axis(core_to_core_bench(context({{0, 1}, {0, 1}}))->axes({}), "path").defaults ==
          std::vector<std::string>{"next core"});
    CHECK(axis(core_to_core_bench(context({{0, 1, 2, 3}, {0, 1, 2, 3}}))->axes({}), "path").defaults.size() == 2);
}

TEST_CASE("a single processor is unsupported, with a reason")
{
    const auto bench = core_to_core_bench(context({{3}, {3}}));
    const Point next = point({{"path", "next core"}});
    CHECK(bench->unsupported_reason(next, small_machine(), {}).value_or("").find("two processors") !=
          std::string::npos);
    CHECK_THROWS_AS(bench->make(next, small_machine(), {}), Unsupported);
}
