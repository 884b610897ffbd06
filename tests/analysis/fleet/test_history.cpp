// Drift over weeks of made-up fleets.
#include "analysis/fleet/history.hpp"
#include "tests/analysis/fleet/made_fleet.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace roof;
using namespace roof::analysis;
using tests::make_fleet;
using tests::slow_down;

namespace {

const std::vector<std::string> eight_weeks{"2026-09-01", "2026-09-08", "2026-09-15", "2026-09-22",
                                           "2026-09-29", "2026-10-06", "2026-10-13", "2026-10-20"};

const tests::MadeFleet small{.nodes = 20, .ceilings = 4, .scatter = 0.02, .daily = 0.005};

/// Every rate of a week, times `factor`.
void change_week(Fleet& fleet, std::size_t week, double factor)
{
    for (std::size_t node = 0; node < small.nodes; ++node)
        for (std::size_t c = 0; c < small.ceilings; ++c)
            slow_down(fleet, node * eight_weeks.size() + week, c, 1 - factor);
}

}  // namespace

TEST_CASE("a node that becomes slower is found with its week, whatever it was before")
{
    Fleet fleet = make_fleet(small, eight_weeks);
    for (std::size_t week = 5; week < 8; ++week) slow_down(fleet, 7 * 8 + week, 2, 0.06);
    for (std::size_t week = 0; week < 8; ++week) slow_down(fleet, 3 * 8 + week, 2, 0.2);
    const auto history = judge_history(fleet);
    REQUIRE(history.size() == 1);
    CHECK(history[0].weeks.front() == "2026-08-31");
    CHECK(history[0].nodes == 20);
    CHECK(history[0].tests == 80);
    REQUIRE(history[0].drifts.size() == 1);
    const NodeDrift& drift = history[0].drifts[0];
    CHECK((drift.node == "n00007" && drift.ceiling == "ceiling 2"));
    CHECK(drift.since == "2026-10-05");
    CHECK(drift.ratio == Approx(0.94).margin(0.01));
    CHECK((drift.before == 5 && drift.after == 3));
}

TEST_CASE("a change of the whole fleet is reported apart and is no drift of a node")
{
    Fleet fleet = make_fleet(small, eight_weeks);
    for (std::size_t week = 4; week < 8; ++week) change_week(fleet, week, 0.9);
    const auto history = judge_history(fleet);
    CHECK(history[0].drifts.empty());
    REQUIRE(history[0].shifts.size() == small.ceilings);
    CHECK(history[0].shifts[0].week == "2026-09-28");
    CHECK(history[0].shifts[0].ratio == Approx(0.9).margin(0.01));
    CHECK(history[0].shifts[0].nodes == 20);
}

TEST_CASE("a steady fleet hardly ever has a drift")
{
    int with_drift = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        tests::MadeFleet made = small;
        made.daily = 0.01;
        made.seed = seed;
        with_drift += !judge_history(make_fleet(made, eight_weeks))[0].drifts.empty();
    }
    CHECK(with_drift <= 4);
}

TEST_CASE("single weeks of a scatter with long tails are no drift")
{
    int with_drift = 0;
    for (unsigned seed = 1; seed <= 20; ++seed)
        with_drift += !judge_history(make_fleet(
            {.nodes = 40, .ceilings = 8, .daily = 0.01, .daily_freedom = 3, .seed = seed}, eight_weeks))[0]
                           .drifts.empty();
    CHECK(with_drift <= 2);  // without regard to the tails sixteen have one
}

TEST_CASE("the smallest drop that is visible is found in most cases")
{
    std::vector<std::string> weeks = eight_weeks;
    for (const char* more : {"2026-10-27", "2026-11-03", "2026-11-10", "2026-11-17"}) weeks.emplace_back(more);
    tests::MadeFleet made = small;
    made.daily = 0.01;
    const double visible = judge_history(make_fleet(made, weeks))[0].visible;
    CHECK(visible > 0.03);
    CHECK(visible < 0.06);
    int found = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        made.seed = seed;
        Fleet fleet = make_fleet(made, weeks);
        for (std::size_t week = 6; week < 12; ++week) slow_down(fleet, 7 * 12 + week, 2, visible);
        const auto drifts = judge_history(fleet)[0].drifts;
        found += drifts.size() == 1 && drifts[0].node == "n00007";
    }
    CHECK(found >= 34);  // 38 expected; fewer with a chance of 0.4%
}

TEST_CASE("a new revision begins a new series, unless ten nodes ran both in one week")
{
    Fleet fleet = make_fleet(small, eight_weeks);
    for (std::size_t week = 4; week < 8; ++week) {
        change_week(fleet, week, 0.9);
        for (std::size_t node = 0; node < small.nodes; ++node) fleet.digests[node * 8 + week].revision = "s";
    }
    CHECK(judge_history(fleet).size() == 2);
    for (const std::size_t both : {9, 10}) {
        Fleet with = fleet;
        for (std::size_t node = 0; node < both; ++node) {
            Digest old = fleet.digests[node * 8 + 4];
            old.revision = "r";
            for (DigestRate& rate : old.ceilings) rate.value /= 0.9;
            with.digests.push_back(old);
        }
        const auto history = judge_history(with);
        REQUIRE(history.size() == (both == 10 ? 1 : 2));
        if (both == 9) continue;
        CHECK(history[0].revisions == std::vector<std::string>{"r", "s"});
        CHECK(history[0].weeks.size() == 8);
        CHECK(history[0].shifts.empty());
        CHECK(history[0].drifts.empty());
    }
}

TEST_CASE("few weeks, few nodes and lower bounds show no drift")
{
    const std::vector<std::string> three(eight_weeks.begin(), eight_weeks.begin() + 3);
    CHECK(judge_history(make_fleet(small, three))[0].tests == 0);
    CHECK(judge_history(make_fleet({.nodes = 5}, eight_weeks))[0].tests == 0);
    CHECK(judge_history({}).empty());
}

TEST_CASE("a fleet whose rates are all lower bounds has a history without drift, and no visible one")
{
    for (const std::size_t nodes : {1, 7}) {
        Fleet fleet = make_fleet({.nodes = nodes}, eight_weeks);
        for (Digest& digest : fleet.digests)
            for (DigestRate& rate : digest.ceilings) rate.high = std::numeric_limits<double>::infinity();
        const auto history = judge_history(fleet);
        REQUIRE(history.size() == 1);
        CHECK(history[0].tests == 0);
        CHECK(history[0].drifts.empty());
        CHECK(history[0].visible == 0);
    }
}
