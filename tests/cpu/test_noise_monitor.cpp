// The noise monitor during a launch, and the search among variants of the same work.
#include "cpu/noise_monitor.hpp"
#include "cpu/topology.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

using namespace roof;
using namespace roof::cpu;

namespace {

using Verdict = CoreHistory::Verdict;

/// Readings around `value`, a thousandth apart.
void feed(CoreHistory& history, double value, int readings, int processor = 0)
{
    for (int i = 0; i < readings; ++i) history.judge(processor, value * (1 + 0.0005 * (i % 3 - 1)));
}

}  // namespace

TEST_CASE("a core is unknown without readings that agree")
{
    CoreHistory history;
    for (int i = 0; i < 60; ++i) CHECK(history.judge(0, 1.0 + 0.1 * i) == Verdict::unknown);
    feed(history, 5.0, 200);
    CHECK(history.judge(0, 5.0) == Verdict::undivided);
}

TEST_CASE("a core that does less than it does alone is shared")
{
    CoreHistory history;
    feed(history, 5.0, 32);
    CHECK(history.judge(0, 5.0) == Verdict::undivided);
    CHECK(history.judge(0, 4.95) == Verdict::undivided);
    CHECK(history.judge(0, 4.9) == Verdict::shared);
    CHECK(history.judge(0, 2.5) == Verdict::shared);
}

TEST_CASE("a core that seems to do more has no valid clock, and does not raise the reference")
{
    CoreHistory history;
    feed(history, 5.0, 32);
    for (int i = 0; i < 60; ++i) CHECK(history.judge(0, 5.1 + 0.04 * i) == Verdict::no_clock);
    CHECK(history.judge(0, 5.0) == Verdict::undivided);
}

TEST_CASE("a quarter of readings that agree gives the rate of an unshared core")
{
    CoreHistory history;
    for (int i = 0; i < 128; ++i) history.judge(0, i % 3 == 0 ? 5.0 : 3.0 + 0.031 * (i % 50));
    CHECK(history.judge(0, 5.0) == Verdict::undivided);
    CHECK(history.judge(0, 4.5) == Verdict::shared);
}

TEST_CASE("a core that was always shared is recognized once it is unshared")
{
    CoreHistory history;
    feed(history, 3.0, 128);
    CHECK(history.judge(0, 3.0) == Verdict::undivided);
    feed(history, 5.0, 48);
    CHECK(history.judge(0, 3.0) == Verdict::shared);
}

TEST_CASE("the rate of an unshared core is kept longer than its readings, and per core")
{
    CoreHistory history;
    feed(history, 5.0, 32);
    for (int i = 0; i < 300; ++i) CHECK(history.judge(0, 3.0) == Verdict::shared);
    CHECK(history.judge(1, 3.0) == Verdict::unknown);
}

TEST_CASE("a core that is always shared is seen beside an alike core that is not, and others are judged by themselves")
{
    CoreHistory history({{0, 1}, {0, 1}});
    feed(history, 3.0, 32, 0);
    feed(history, 3.9, 32, 1);
    feed(history, 2.0, 32, 7);
    CHECK(history.judge(0, 3.0) == Verdict::shared);
    CHECK(history.judge(1, 3.9) == Verdict::undivided);
    CHECK(history.judge(7, 2.0) == Verdict::undivided);
}

TEST_CASE("one thread runs on the near core that was shared least of late")
{
    CoreHistory history({{0, 1, 2, 9}, {0, 1, 2}});
    feed(history, 3.0, 64, 0);
    feed(history, 3.9, 64, 1);
    feed(history, 3.9, 64, 2);
    CHECK(history.quietest(0) == 1);
    feed(history, 2.8, 32, 1);
    CHECK(history.quietest(0) == 2);
    CHECK(CoreHistory().quietest(5) == 5);
}

TEST_CASE("cores without readings are read before one is chosen")
{
    const Topology topology = read_topology();
    CoreHistory history(topology.alike);
    const int chosen = history.quietest(-1);
    CHECK(std::ranges::count(topology.alike.near, chosen) == 1);
}

TEST_CASE("a monitored launch runs on every thread, and reports its time and clock")
{
    const Topology topology = read_topology();
    MonitoredTeam team(topology.processors.spread, std::make_shared<CoreHistory>());
    const Clock still = [] { return Seconds{}; };
    Trace trace(still, 0);
    std::atomic<int> ran = 0;
    std::atomic<std::uint64_t> sum = 0;
    team.launch(trace, [&](int thread) {
        ++ran;
        for (std::uint64_t i = 0; i < 100'000; ++i) sum.fetch_add(i ^ static_cast<std::uint64_t>(thread));
    });
    CHECK(team.size() == static_cast<int>(topology.processors.spread.size()));
    CHECK(ran == team.size());
    REQUIRE(trace.time_taken());
    CHECK(trace.time_taken()->value > 0);
    CHECK(trace.sample().clock.value > 1e8);
    CHECK(trace.sample().clock.value < 1e11);
}

TEST_CASE("waiting for a clock ends when the cores have it, and when they never do")
{
    const Topology topology = read_topology();
    const MonitoredTeam team(topology.processors.spread, std::make_shared<CoreHistory>());
    const Hertz now = team.read_clock();
    CHECK(now.value > 1e8);
    team.wait_for_clock(now * 0.5);
    team.wait_for_clock(now * 10);
}

TEST_CASE("a disturbed launch of independent threads is repeated with all threads")
{
    const Topology topology = read_topology();
    const Clock still = [] { return Seconds{}; };
    const auto runs = [&](Resources resources) {
        // Nothing is known of a new core, so every attempt counts as disturbed.
        MonitoredTeam team(topology.processors.spread, std::make_shared<CoreHistory>());
        Trace trace(still, 0);
        std::atomic<int> ran = 0;
        team.launch(
            trace, [&](int) { ++ran; }, resources);
        CHECK_FALSE(trace.sample().disturbance.empty());
        CHECK(trace.time_taken());
        return ran / team.size();
    };
    CHECK(runs(Resources::shared) == 1);
    CHECK(runs(Resources::their_own) == (topology.processors.spread.size() > 1 ? 3 : 1));
}

TEST_CASE("an exception in a monitored launch is rethrown")
{
    const Topology topology = read_topology();
    MonitoredTeam team({topology.processors.spread.front()}, std::make_shared<CoreHistory>());
    const Clock still = [] { return Seconds{}; };
    Trace trace(still, 0);
    CHECK_THROWS_AS(team.launch(trace, [](int) { throw std::runtime_error("on purpose"); }), std::runtime_error);
}
