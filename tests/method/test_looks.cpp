// The rate over several looks, by hand. All rounds have three samples, of which the middle one is the round's median.
#include "ert/method/ceilings/looks.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;

namespace {

constexpr double tolerance = 0.01;  // the window reaches 1.5% to each side
constexpr long long minute = 60;

/// Three rounds unless told otherwise, with samples 0.1% to both sides.
Look look(long long minutes, double rate, int rounds = 3, bool is_of_now = true)
{
    const Round round{{rate * 0.999}, {rate}, {rate * 1.001}};
    Look of{minutes * minute, is_of_now};
    of.ceiling.samples.assign(static_cast<std::size_t>(rounds), round);
    return of;
}

SustainedRate over(const std::vector<Look>& looks)
{
    return rate_over_looks(looks, tolerance);
}

/// Looks at a ceiling of the CPU eleven minutes apart, each with rounds at these rates.
void add_looks(std::vector<Look>& seen, const char* level, const char* operation,
               const std::vector<std::vector<double>>& looks)
{
    for (std::size_t i = 0; i < looks.size(); ++i) {
        Look& one = seen.emplace_back(Look{static_cast<long long>(i) * 660, true, {}});
        one.ceiling.device = "cpu";
        one.ceiling.level = level;
        one.ceiling.operation = operation;
        for (const double rate : looks[i]) one.ceiling.samples.push_back(look(0, rate, 1).ceiling.samples.front());
    }
}

/// Of the first of these ceilings.
Ceiling judged_first(const std::vector<Look>& seen)
{
    Ceiling ceiling = seen.front().ceiling;
    judge_by_looks(seen, {&ceiling, 1});
    return ceiling;
}

void check(const SustainedRate& seen, Steadiness state, double rate, int times)
{
    CHECK(seen.steadiness == state);
    CHECK(seen.rate.median.value == Approx(rate));
    CHECK(seen.times == times);
}

}  // namespace

TEST_CASE("one look is seen once, and two are steady if they are ten minutes apart")
{
    check(over({look(0, 100)}), Steadiness::seen_once, 100, 1);
    check(over({look(0, 100), look(9, 100.4)}), Steadiness::seen_once, 100.4, 1);

    // Six medians, 100 and 100.4: mean 100.2, squares 6 · 0.2² = 0.24, error √(0.24 / 5 / 6) = 0.08944, half width
    // 3.163 · 0.08944 = 0.2829, and a tenth of the tolerance more: 0.1002.
    const SustainedRate steady = over({look(0, 100), look(11, 100.4)});
    check(steady, Steadiness::steady, 100.2, 2);
    CHECK(steady.rate.low.value == Approx(99.8169).epsilon(1e-6));
    CHECK(steady.rate.high.value == Approx(100.5831).epsilon(1e-6));
    CHECK(steady.over.value == 11 * minute);
    // Looks at 0, 6 and 12 minutes are two times; the order does not count.
    check(over({look(12, 100), look(6, 100), look(0, 100)}), Steadiness::steady, 100, 2);
    check(over({}), Steadiness::at_least, 0, 0);
}

TEST_CASE("a lower bound is at least what one look showed alone, though of the other state it does not count")
{
    std::vector<Look> looks{look(0, 100, 2), look(11, 60, 2)};
    looks[0].ceiling.rate.low = {108};
    check(over(looks), Steadiness::at_least, 108, 1);
    looks[0].is_of_now = false;
    check(over(looks), Steadiness::at_least, 60 * 0.999, 1);
    // What is steady stays as it is.
    looks = {look(0, 100), look(11, 100)};
    looks[0].ceiling.rate.low = {108};
    check(over(looks), Steadiness::steady, 100, 2);
}

TEST_CASE("what one look alone does not show is a bound, and rounds of other times complete it")
{
    // Two rounds are fewer than three: the least of the six samples.
    check(over({look(0, 100, 2)}), Steadiness::at_least, 99.9, 1);
    check(over({look(0, 100, 2), look(9, 100, 2)}), Steadiness::at_least, 99.9, 1);
    check(over({look(0, 100, 1), look(11, 100, 1), look(22, 100, 1)}), Steadiness::steady, 100, 3);
}

TEST_CASE("a later look that is faster takes steady back until another agrees with it")
{
    std::vector<Look> looks{look(0, 100), look(11, 100), look(22, 120)};
    check(over(looks), Steadiness::seen_once, 120, 1);
    looks.push_back(look(33, 120));
    check(over(looks), Steadiness::steady, 120, 2);
    // Six of fifteen rounds are less than 45%: three times have to agree.
    looks.push_back(look(44, 60));
    check(over(looks), Steadiness::at_least, 120, 2);
    looks.push_back(look(55, 120));
    check(over(looks), Steadiness::steady, 120, 3);
    // One round with three faster samples raises the bound.
    looks.push_back(look(66, 160, 1));
    check(over(looks), Steadiness::at_least, 159.84, 1);
}

TEST_CASE("slower looks do not count, unless they are the last and more than there were before faster ones")
{
    check(over({look(0, 100), look(11, 60), look(22, 100)}), Steadiness::steady, 100, 2);
    check(over({look(0, 100), look(11, 60)}), Steadiness::changed, 100, 1);
    check(over({look(0, 100), look(11, 60), look(22, 100), look(33, 60)}), Steadiness::steady, 100, 2);
    check(over({look(0, 100), look(11, 60), look(22, 100), look(33, 60, 4)}), Steadiness::changed, 100, 2);
    check(over({look(0, 100), look(11, 60), look(22, 100), look(33, 60, 2), look(44, 60, 2)}), Steadiness::changed, 100,
          2);
}

TEST_CASE(
    "rounds just below the window widen the interval, and where they are as many as those in it the rate is not steady")
{
    // 98 lies below the window, 98.5 to 101.5, and above 97. Nine medians: mean 99.3333, squares 6 · 0.6667² + 3 ·
    // 1.3333² = 8, error √(8 / 8 / 9) = 0.33333, half width 2.752 · 0.33333 = 0.91733, and 0.1 more.
    const SustainedRate wide = over({look(0, 100), look(11, 98, 3), look(22, 100)});
    check(wide, Steadiness::steady, 100, 2);
    CHECK(wide.rate.low.value == Approx(98.316).epsilon(1e-5));
    CHECK(wide.rate.high.value == Approx(100.3507).epsilon(1e-5));
    check(over({look(0, 100), look(11, 100), look(22, 98, 6)}), Steadiness::rounds_disagree, 100, 2);
    check(over({look(0, 96, 3), look(11, 100), look(22, 100)}), Steadiness::steady, 100, 2);
}

TEST_CASE("the interval reaches to the last round")
{
    // Nine medians: mean 99.6667, squares 6 · 0.3333² + 3 · 0.6667² = 2, error √(2 / 8 / 9) = 0.16667, half width
    // 2.752 · 0.16667 = 0.45867; each end 0.09967 farther.
    const SustainedRate fell = over({look(0, 100), look(11, 100), look(22, 99)});
    check(fell, Steadiness::steady, 99.66667, 3);
    CHECK(fell.rate.low.value == Approx(99 - 0.09967).epsilon(1e-5));
    CHECK(fell.rate.high.value == Approx(100.12533 + 0.09967).epsilon(1e-5));
}

TEST_CASE("a time with disturbed samples alone confirms nothing")
{
    Look disturbed = look(11, 100);
    for (Round& round : disturbed.ceiling.samples)
        for (RateSample& sample : round) sample.disturbed = true;
    check(over({look(0, 100), disturbed}), Steadiness::seen_once, 100, 1);
    check(over({disturbed, look(22, 100), look(33, 100)}), Steadiness::steady, 100, 2);
}

TEST_CASE("slower samples that were disturbed, and faster ones of other sets, tell nothing against what two times show")
{
    const auto mixed = [](long long minutes, bool is_disturbed) {
        Look of = look(minutes, 100);
        for (Round& round : of.ceiling.samples) {
            round.insert(round.end(), 4, RateSample{.rate = 60, .disturbed = is_disturbed});
            round.push_back({.rate = 110, .left_out = true});
        }
        return of;
    };
    check(over({mixed(0, true), mixed(11, true)}), Steadiness::steady, 100, 2);
    CHECK(over({mixed(0, true)}).steadiness == Steadiness::at_least);
    CHECK(over({mixed(0, false), mixed(11, false)}).steadiness == Steadiness::at_least);
}

TEST_CASE("rounds of another state confirm a rate and do not change it")
{
    const bool before = false;
    check(over({look(0, 100, 3, before), look(11, 100.4)}), Steadiness::steady, 100.4, 2);
    check(over({look(0, 120, 3, before), look(11, 100)}), Steadiness::seen_once, 100, 1);
    check(over({look(0, 100, 3, before), look(11, 100, 3, before)}), Steadiness::seen_once, 100, 2);
}

TEST_CASE("a rate that looks lose in their course is not steady until a look keeps it")
{
    Look falls = look(0, 100);
    for (const Round& round : look(0, 70).ceiling.samples) falls.ceiling.samples.push_back(round);
    Look again = falls;
    again.time = 11 * minute;
    // Only the rest between the two brought the rate back.
    check(over({falls, again}), Steadiness::changed, 100, 2);
    check(over({falls, look(11, 100)}), Steadiness::steady, 100, 2);
    // A neighbour that leaves and comes again: three slower rounds, then two.
    Look comes = look(11, 100);
    for (const double rate : {70, 70, 70, 100, 70, 70})
        for (const Round& round : look(0, rate, 1).ceiling.samples) comes.ceiling.samples.push_back(round);
    check(over({look(0, 100), comes}), Steadiness::steady, 100, 2);
    for (const Round& round : look(0, 70, 2).ceiling.samples) comes.ceiling.samples.push_back(round);
    check(over({look(0, 100), look(5, 100), comes}), Steadiness::changed, 100, 2);
    // What the monitor saw is no change.
    for (std::size_t i = comes.ceiling.samples.size() - 4; i < comes.ceiling.samples.size(); ++i)
        for (RateSample& sample : comes.ceiling.samples[i]) sample.disturbed = true;
    check(over({look(0, 100), look(5, 100), comes}), Steadiness::steady, 100, 2);
}

TEST_CASE("where the clock varies looks are compared per clock")
{
    const Estimate<Hertz> clock{{2.5}, {2}, {3}, 6, 0};
    std::vector<Look> looks{look(0, 200), look(11, 300)};
    for (Look& one : looks) {
        one.ceiling.clock = clock;
        one.ceiling.per_clock_compared = true;
    }
    for (std::size_t i = 0; i < looks.size(); ++i)
        for (Round& round : looks[i].ceiling.samples)
            for (RateSample& sample : round) sample.clock = i == 0 ? 2 : 3;
    // 100 per clock in both.
    const SustainedRate seen = over(looks);
    check(seen, Steadiness::clock_varied, 250, 2);
    CHECK(seen.rate.low.value == Approx(200));
    CHECK(seen.rate.high.value == Approx(300));
}

TEST_CASE("what is fast while most of its level is slow was not seen alone, and is a lower bound")
{
    const auto copies = [](const char* level, const std::vector<double>& rates) {
        std::vector<Look> seen;
        add_looks(seen, level, "copy", {rates, rates, rates});
        add_looks(seen, level, "load", {{70, 70, 100}, {70, 70, 100}, {70, 70, 100}});
        return judged_first(seen);
    };
    // In each look two rounds against the level, and one with it.
    CHECK(copies("DRAM", {50, 50, 50}).steadiness == Steadiness::at_least);
    CHECK(copies("DRAM", {35, 35, 50}).steadiness == Steadiness::steady);
    CHECK(copies("DRAM", {35, 35, 50}).rate.median.value == Approx(50));
    // Each core has an L1 of its own, where one loop tells nothing of another.
    CHECK(copies("L1", {50, 50, 50}).steadiness == Steadiness::steady);
}

TEST_CASE("what two others of a level lost after the last round of a ceiling it may have lost too")
{
    std::vector<Look> seen;
    add_looks(seen, "DRAM", "copy", {{50, 50, 50}, {50, 50, 50}});
    add_looks(seen, "DRAM", "load", {{100, 100, 100}, {100, 100, 100, 70, 70}});
    CHECK(judged_first(seen).steadiness == Steadiness::steady);
    add_looks(seen, "DRAM", "store", {{100, 100, 100}, {100, 100, 100, 70, 70}});
    CHECK(judged_first(seen).steadiness == Steadiness::changed);
    CHECK(judged_first(seen).change == "changed: the last rounds are slower");
}

TEST_CASE("what most of a level lost at the end is lost, whatever an unlucky round of one ceiling was followed by")
{
    const auto copies = [](double last_load, double last_store) {
        std::vector<Look> seen;
        add_looks(seen, "DRAM", "copy", {{50, 35, 50}, {50, 50, 35}});
        add_looks(seen, "DRAM", "load", {{100, 100, 100}, {100, 100, last_load}});
        add_looks(seen, "DRAM", "store", {{60, 60, 60}, {60, 60, last_store}});
        return judged_first(seen).steadiness;
    };
    CHECK(copies(70, 42) == Steadiness::changed);
    CHECK(copies(100, 60) == Steadiness::steady);
}

TEST_CASE("rounds that differ by themselves prove no bound: the value is the median round")
{
    // In each look one round alone near 112. In order 96, 96, 97, 97, 98, 98, 100, 100, 112, 112: the third fastest,
    // 100, lies within 20% of 112, and the third slowest, 97, within 20% of it. Of ten the interval begins at the
    // second.
    Look lucky = look(0, 112, 1);
    for (const double rate : {96, 100, 97, 98})
        lucky.ceiling.samples.push_back(look(0, rate, 1).ceiling.samples.front());
    std::vector<Look> looks{lucky, lucky};
    looks[1].time = 11 * minute;
    const SustainedRate seen = rate_over_looks(looks, 0.03);
    check(seen, Steadiness::rounds_disagree, 98, 2);
    CHECK(seen.rate.low.value == Approx(96));
    CHECK(seen.rate.high.value == Approx(112));
    // Slower than that is interference: the least sample of the window is a bound.
    for (Look& one : looks)
        for (std::size_t i = 1; i < 5; ++i)
            for (RateSample& sample : one.ceiling.samples[i]) sample.rate /= 2;
    check(rate_over_looks(looks, 0.03), Steadiness::at_least, 112 * 0.999, 2);
}

TEST_CASE("how far an ordinary rate differs between times is Student's, and not known of one time")
{
    // Looks at 0 and 9 minutes are one time; one of another state is none. Disturbed samples count.
    Look disturbed = look(9, 110);
    for (Round& round : disturbed.ceiling.samples)
        for (RateSample& sample : round) sample.disturbed = true;
    const std::vector<double> usual =
        usual_rates(std::vector{look(-60, 50, 3, false), look(0, 100, 1), disturbed, look(11, 121), look(22, 110)});
    REQUIRE(usual.size() == 3);
    CHECK(usual[0] ==
          Approx(109.945));  // of 99.9, 100, 100.1 and three of 109.89, 110, 110.11 each: the sixth and seventh
    CHECK(usual[1] == Approx(121));

    // ln of 100, 110, 121: 0.09531 apart, and so deviates; 3.182 of three degrees of freedom, 4.303 of two.
    const std::vector<std::vector<double>> rates{{100, 110, 121}, {100, 100},      {100, 101},
                                                 {100},           {100, 100, 100}, {100, 100}};
    const auto halves = half_widths_between(rates);
    // Of the five variances, 0, 0, 0, 4.95e-5 and 9.08e-3, the fourth.
    const double drift = std::pow(std::log(1.01), 2) / 2;
    CHECK(halves[0].value() == Approx(3.182 * std::sqrt((2 * std::pow(std::log(1.1), 2) + drift) / 3)));
    CHECK(halves[1].value() == Approx(4.303 * std::sqrt(drift / 2)));
    CHECK(halves[2].value() == Approx(4.303 * std::sqrt(drift)));
    CHECK_FALSE(halves[3]);
    // A quiet machine's drift is 0.3%.
    const std::vector<std::vector<double>> quiet(3, {100, 100});
    CHECK(half_widths_between(quiet)[0].value() == Approx(4.303 * 0.003 / std::sqrt(2)));

    std::vector<Look> seen;
    add_looks(seen, "L2", "load", {{100}, {110}, {121}});
    CHECK(judged_first(seen).between.value() == Approx(3.182 * std::log(1.1)));
    // Of the last without its own time: ln 110 is 0.0477 from the middle of both, and the drift is that of this one.
    Ceiling last = seen.back().ceiling;
    judge_by_looks(seen, {&last, 1}, seen.back().time + 60);
    CHECK(last.between.value() == Approx(3.182 * std::log(1.1)));
    CHECK(last.between_others.value() == Approx(4.303 * std::log(1.1) / std::sqrt(2)));
    seen.resize(1);
    CHECK_FALSE(judged_first(seen).between);
}
