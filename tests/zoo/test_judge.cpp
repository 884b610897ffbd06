// The judge: truth, misses and pools, against hand arithmetic.
#include "tests/zoo/report.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <optional>

using namespace roof;
using namespace roof::zoo;

namespace {

JudgedCeiling ceiling(Steadiness state, double value, double half = 0.5)
{
    JudgedCeiling made{"L1 load", Group::near, state, {100, 102, 100}, value, value - half, value + half};
    made.is_seen = true;
    made.holds = state == Steadiness::at_least ? !made.is_above() : made.low <= 100 && 100 <= made.high;
    return made;
}

constexpr auto steady = Steadiness::steady;
constexpr auto at_least = Steadiness::at_least;

}  // namespace

TEST_CASE("the truth is the undisturbed rate, and beside it stands what the last tenth of the launches got")
{
    CHECK(truth_of(100, 1, 1, {}).alone == 100);
    CHECK(truth_of(100, 1, 1, {}).after == 100);
    std::vector<float> kept(94, 1.0F);
    kept.insert(kept.end(), 6, 0.5F);
    CHECK(truth_of(100, 1, 1, kept).alone == 100);
    CHECK(truth_of(100, 1, 1, kept).after == 50);  // six of the last ten
    kept.insert(kept.end(), 10, 1.0F);
    CHECK(truth_of(100, 1, 1, kept).after == 100);
    kept = std::vector<float>(90, 1.0F);
    kept.insert(kept.end(), 10, 0.5F);
    kept.insert(kept.end(), 10, 0.75F);  // the last tenth of the second of two looks are five
    CHECK(truth_of(100, 1, 1, kept, 2).after == 75);
    const Truth varied = truth_of(100, 0.975, 1, {});
    CHECK(varied.alone == Approx(97.5));
    CHECK(varied.fastest == Approx(100));
}

TEST_CASE("a value is compared with the truth, a lower bound with the undisturbed rate at the fastest clock")
{
    CHECK(ceiling(steady, 95).over_truth() == Approx(0.95));
    CHECK(ceiling(steady, 103).over_truth() == Approx(1.03));
    CHECK_FALSE(ceiling(at_least, 102.4).is_above());
    CHECK(ceiling(at_least, 102.6).is_above());
}

TEST_CASE("a group counts its states, its misses and its bounds")
{
    GroupTally group;
    for (const double value : {100.0, 100.4, 96.0, 98.0}) group.add(ceiling(steady, value));
    for (const double value : {90.0, 99.0, 103.0}) group.add(ceiling(at_least, value));
    group.add(ceiling(Steadiness::rounds_disagree, 97, 4));
    CHECK(group.ceilings == 8);
    CHECK(group.steady == 4);
    CHECK(group.steady_holds == 2);
    CHECK(group.steady_and_low == 1);
    CHECK(median_of(group.misses) == Approx(0.04));
    CHECK(group.at_least == 3);
    CHECK(group.above == 1);
    CHECK(median_of(group.bounds) == Approx(0.99));
    CHECK(group.unsteady == 1);
    CHECK(group.unsteady_holds == 1);
    CHECK(std::isnan(median_of({})));
}

TEST_CASE(
    "groups with few steady intervals are pooled by source, then over all sources, and are not judged where that is "
    "too few")
{
    const Kind bus{.name = "a", .source = Source::bus};
    const Kind other_bus{.name = "b", .source = Source::bus};
    const Kind quiet{.name = "c"};
    const auto tally = [](const Kind& kind, int intervals, double value) {
        Tally made;
        made.kind = &kind;
        made.machines = 1;
        for (int i = 0; i < intervals; ++i)
            made.by_group[static_cast<std::size_t>(Group::near)].add(ceiling(steady, value));
        return made;
    };
    const auto holds = [](const std::vector<Tally>& tallies, std::vector<std::string>& unjudged) {
        std::vector<std::pair<std::string, double>> values;
        for (const Finding& finding : findings_of(tallies, unjudged))
            if (finding.figure == "steady intervals that hold the truth")
                values.emplace_back(finding.of, finding.value);
        return values;
    };
    std::vector<std::string> unjudged;
    using Values = std::vector<std::pair<std::string, double>>;
    CHECK(holds({tally(bus, 200, 100), tally(quiet, 200, 97)}, unjudged) == Values{{"a: near", 1}, {"c: near", 0}});
    CHECK(holds({tally(bus, 120, 100), tally(other_bus, 80, 97), tally(quiet, 200, 100)}, unjudged) ==
          Values{{"c: near", 1}, {"a + b: near", 0.6}});
    CHECK(holds({tally(bus, 150, 100), tally(quiet, 50, 97)}, unjudged) == Values{{"c + a: near", 0.75}});
    CHECK(unjudged.empty());
    CHECK(holds({tally(bus, 150, 100), tally(quiet, 49, 97)}, unjudged).empty());
    CHECK(unjudged.size() == 1);

    // Lower bounds, by their own number: 150 and 60 of one source, one in ten of the second kind above the truth.
    const auto bounds = [](const Kind& kind, int below, int above) {
        Tally made;
        made.kind = &kind;
        GroupTally& near = made.by_group[static_cast<std::size_t>(Group::near)];
        for (int i = 0; i < below + above; ++i) near.add(ceiling(at_least, i < below ? 99 : 103));
        return made;
    };
    unjudged.clear();
    Values above;
    for (const Finding& finding : findings_of({bounds(bus, 150, 0), bounds(other_bus, 54, 6)}, unjudged))
        if (finding.figure == "lower bounds above the truth") above.emplace_back(finding.of, finding.value);
    CHECK(above == Values{{"a + b: near", 6.0 / 210}});
    CHECK(unjudged.empty());
    findings_of({bounds(bus, 150, 49)}, unjudged);
    CHECK(unjudged == std::vector<std::string>{"a: near: 199 lower bounds"});
}

TEST_CASE("pieces of a run are joined by kind, their counts and their medians")
{
    const auto piece = [](const Kind& kind, double value, std::size_t levels_right) {
        Tally made{&kind, 3, 2, levels_right, 1, 8, 7, 2, {{0, 3}}, 1, {30, 36.5}, 900};
        for (const double share : {1.0, value})
            for (const Steadiness state : {steady, at_least, Steadiness::clock_varied})
                made.by_group[1].add(ceiling(state, 100 * share, 0.25));
        return made;
    };
    const Kind& one = all_kinds()[0];
    const Kind& other = all_kinds()[1];
    const std::vector<Tally> tallies = joined(
        {report_json({piece(one, 0.9, 2), piece(other, 1, 3)}), report_json({piece(one, 1.1, 3), piece(other, 1, 0)})});
    REQUIRE(tallies.size() == 2);
    const Tally& sum = tallies.front();
    CHECK(sum.kind == &one);
    CHECK(tallies.back().kind == &other);
    CHECK(std::tuple(sum.machines, sum.levels_right, sum.false_levels, sum.edges, sum.edges_right) ==
          std::tuple(6, 5, 2, 16, 14));
    CHECK(std::tuple(sum.any_steady_and_low, sum.broken, sum.rows) == std::tuple(4, 2, 1800));
    CHECK(sum.seconds == std::vector<float>{30, 36.5, 30, 36.5});
    CHECK(sum.statuses == std::map<int, std::size_t>{{0, 6}});
    const GroupTally& near = sum.of(Group::near);
    CHECK(std::tuple(near.ceilings, near.steady, near.steady_holds, near.steady_and_low) == std::tuple(12, 4, 2, 1));
    CHECK(std::tuple(near.at_least, near.above, near.unsteady, near.unsteady_holds) == std::tuple(4, 1, 4, 2));
    CHECK(near.misses.size() == 2);
    CHECK(near.half_widths.size() == 4);
    CHECK(median_of(near.bounds) == Approx(1));
    CHECK(sum.of(Group::far).ceilings == 0);
}

TEST_CASE(
    "machines with two looks and with twenty are judged apart, and of those two thirds disturbed most ceilings are "
    "steady")
{
    const Kind disturbed{.name = "d", .source = Source::bus, .duty = {limits::most_duty, limits::most_duty}};
    const auto share = [&](int looks, int steady_ones) {
        Tally tally{.kind = &disturbed, .machines = 1, .looks = looks};
        for (int i = 0; i < 100; ++i) tally.by_group[2].add(ceiling(i < steady_ones ? steady : at_least, 99.9));
        std::vector<std::string> unjudged;
        for (const Finding& finding : findings_of({tally}, unjudged))
            if (finding.figure == "share of steady ceilings") return std::optional(finding.passes());
        return std::optional<bool>();
    };
    CHECK_FALSE(share(2, 0).has_value());
    CHECK(share(20, 60) == true);
    CHECK(share(20, 59) == false);
    Tally two{&all_kinds()[0], 3, 2};
    const Tally twenty{&all_kinds()[0], 1, 20};
    CHECK(two.calibrations() == 6);
    const std::vector<Tally> apart = joined({report_json({two}), report_json({twenty}), report_json({two})});
    REQUIRE(apart.size() == 2);
    CHECK(std::pair(apart[0].machines, apart[0].looks) == std::pair(std::size_t{6}, 2));
    CHECK(std::pair(apart[1].machines, apart[1].looks) == std::pair(std::size_t{1}, 20));
}

TEST_CASE("the longest calibration is held to 20 s on quiet machines, and to 34 s on others")
{
    const auto over = [](const Kind& kind) {
        Tally tally{.kind = &kind, .seconds = {10, 21, 12}};
        std::vector<std::string> unjudged;
        for (const Finding& finding : findings_of({tally}, unjudged))
            if (finding.figure.starts_with("seconds")) return std::pair(finding.value, finding.passes());
        return std::pair(0.0, true);
    };
    CHECK(over({.name = "a"}) == std::pair(21 / 20.0, false));
    CHECK(over({.name = "b", .source = Source::bus}) == std::pair(21 / 34.0, true));
}

TEST_CASE("of kinds with an event steady ceilings that are wrong after it are at most 2%")
{
    const auto passes = [](const Kind& kind, int wrong) {
        Tally tally{.kind = &kind, .machines = 1};
        for (int i = 0; i < 100; ++i) {
            JudgedCeiling made = ceiling(steady, 100);
            made.is_wrong = i < wrong;
            tally.by_group[static_cast<std::size_t>(Group::near)].add(made);
        }
        std::vector<std::string> unjudged;
        for (const Finding& finding : findings_of({tally}, unjudged))
            if (finding.figure.starts_with("steady and wrong")) return finding.passes() ? "yes" : "no";
        return "not judged";
    };
    CHECK(passes({.name = "a", .change = Change::throttle}, 2) == std::string("yes"));
    CHECK(passes({.name = "a", .change = Change::throttle}, 3) == std::string("no"));
    CHECK(passes({.name = "b"}, 3) == std::string("not judged"));
}

TEST_CASE("a figure passes at its bound")
{
    CHECK(Finding{"f", "k", 0.93, 0.93, true, 1}.passes());
    CHECK_FALSE(Finding{"f", "k", 0.9299, 0.93, true, 1}.passes());
    CHECK(Finding{"f", "k", 0.01, 0.01, false, 1}.passes());
    CHECK_FALSE(Finding{"f", "k", 0.0101, 0.01, false, 1}.passes());
}
