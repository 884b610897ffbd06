// PassDriver: the choice of a variant, and launches that cover all of the arrays.
#include "cpu/probes/pass_driver.hpp"
#include "cpu/topology.hpp"
#include "tests/cpu/probe_bed.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

using namespace roof;
using namespace roof::cpu;
using namespace roof::cpu::test;

namespace {

constexpr std::size_t step = 1000;
using Calls = std::vector<std::pair<std::size_t, std::size_t>>;  ///< from, bytes

/// Takes a fixed time per byte, without memory, and records the segments.
Variant slow_way(const std::string& name, std::chrono::nanoseconds per_step, Calls& calls)
{
    return {name, [=, &calls](int, std::size_t passes, const Segment& segment) {
                calls.emplace_back(segment.from, segment.bytes);
                const auto end = std::chrono::steady_clock::now() + per_step * passes * (segment.bytes / step);
                while (std::chrono::steady_clock::now() < end) {
                }
            }};
}

void launch(PassDriver& walk)
{
    const Clock clock = [] { return Seconds{}; };
    Trace trace(clock, 0);
    walk.launch(trace);
}

std::vector<int> one_processor()
{
    return {read_layout().processors.spread.front()};
}

}  // namespace

TEST_CASE("extents are whole iterations of every loop, with a small remainder")
{
    const Extent extent = whole_iterations(1'000'000, {512, 256, 2048}).value_or(Extent{});
    CHECK(extent.step == 2048);
    CHECK(extent.bytes == 1'000'000 / 2048 * 2048);
    CHECK(whole_iterations(5000, {512, 256, 2048})->step == 512);
    CHECK(whole_iterations(300, {512, 256, 2048})->bytes == 256);
    CHECK_FALSE(whole_iterations(255, {512, 256, 2048}));
    CHECK_FALSE(whole_iterations(255, {}));
}

TEST_CASE("the fastest variant is chosen in any order")
{
    MonitoredTeam team(one_processor(), std::make_shared<CoreHistory>());
    Calls calls;
    using std::chrono::nanoseconds;
    PassDriver walk(team, {10 * step, step},
                    {slow_way("slow", nanoseconds(50'000), calls), slow_way("fast", nanoseconds(500), calls),
                     slow_way("slower", nanoseconds(90'000), calls)});
    CHECK(walk.fastest() == "fast");
}

TEST_CASE("short arrays are passed over whole, many times per launch")
{
    MonitoredTeam team(one_processor(), std::make_shared<CoreHistory>());
    Calls calls;
    PassDriver walk(team, {step, step}, {slow_way("only", std::chrono::nanoseconds(100), calls)});
    calls.clear();
    launch(walk);
    CHECK(calls == Calls{{0, step}});
    CHECK(walk.passes() > 1);
    CHECK(walk.bytes_per_launch() == static_cast<double>(walk.passes() * step));
}

TEST_CASE("long arrays are cut into windows of equal length that cover everything")
{
    constexpr std::size_t steps = 997;
    MonitoredTeam team(one_processor(), std::make_shared<CoreHistory>());
    Calls calls;
    PassDriver walk(team, {steps * step, step}, {slow_way("only", std::chrono::microseconds(20), calls)});
    REQUIRE(walk.passes() == 1);
    const auto window = static_cast<std::size_t>(walk.bytes_per_launch());
    REQUIRE(window < steps * step);
    calls.clear();
    for (std::size_t i = 0; i < steps; ++i) launch(walk);
    std::sort(calls.begin(), calls.end());
    CHECK(calls.front().first == 0);
    CHECK(calls.back().first + window == steps * step);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        CHECK(calls[i].second == window);
        CHECK(calls[i].first % step == 0);
        if (i > 0) CHECK(calls[i].first <= calls[i - 1].first + window);
    }
    const std::vector<Segment> samples = walk.samples();
    calls.clear();
    walk.run(samples[0], 1);
    CHECK(calls == Calls{{samples[0].from, window}});
}

TEST_CASE("launches begin after the segments of the search, and reach the checked segments last")
{
    constexpr std::size_t steps = 4096;
    MonitoredTeam team(one_processor(), std::make_shared<CoreHistory>());
    Calls calls;
    PassDriver walk(team, {steps * step, step}, {slow_way("only", std::chrono::microseconds(5), calls)});
    const auto window = static_cast<std::size_t>(walk.bytes_per_launch());
    REQUIRE(window < steps * step / 8);
    const std::size_t walked = calls.back().first + calls.back().second;
    calls.clear();
    launch(walk);
    CHECK((calls[0].first >= walked || calls[0].first == 0));
    CHECK(calls[0].first <= walked + window);

    const std::vector<Segment> samples = walk.samples();
    REQUIRE(samples.size() == 2);
    CHECK(samples[0].from == calls[0].first);
    calls.clear();
    const auto others =
        static_cast<std::size_t>(std::ceil(static_cast<double>(steps * step) / static_cast<double>(window))) - 2;
    for (std::size_t i = 0; i < others; ++i) launch(walk);
    for (const auto& [from, bytes] : calls)
        for (const Segment& sample : samples) CHECK(from != sample.from);
}

TEST_CASE("the fastest of many variants is found")
{
    MonitoredTeam team(one_processor(), std::make_shared<CoreHistory>());
    Calls calls;
    std::vector<Variant> many;
    for (int i = 0; i < 40; ++i)
        many.push_back(slow_way(std::to_string(i), std::chrono::nanoseconds(i == 33 ? 500 : 50'000), calls));
    PassDriver walk(team, {10 * step, step}, std::move(many));
    CHECK(walk.fastest() == "33");
    CHECK(walk.chosen() == 33);
}

TEST_CASE("a variant that is far slower is tried twice")
{
    MonitoredTeam team(one_processor(), std::make_shared<CoreHistory>());
    std::vector<Calls> calls(40);
    std::vector<Variant> many;
    for (int i = 0; i < 40; ++i)
        many.push_back(slow_way(std::to_string(i), std::chrono::nanoseconds(500 * (i + 1)), calls[i]));
    const PassDriver walk(team, {10 * step, step}, std::move(many));
    const auto tries = [&](std::size_t i) { return calls[i].size(); };
    CHECK(tries(walk.chosen()) > tries(39));
    CHECK(tries(39) == 2);
}
