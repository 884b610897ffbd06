// The rate over several looks, by hand. All rounds have three samples, of which the middle one is the round's median.
#include "ert/method/ceilings/looks.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

constexpr double tolerance = 0.01;  // the window reaches 1.5% to each side
constexpr double minute = 60;

/// Three rounds unless told otherwise, with samples 0.1% to both sides.
Look look(double minutes, double rate, int rounds = 3, bool is_of_now = true)
{
    const Round round{{rate * 0.999}, {rate}, {rate * 1.001}};
    return {{minutes * minute}, is_of_now, std::vector<Round>(static_cast<std::size_t>(rounds), round), {}};
}

SeenRate over(const std::vector<Look>& looks)
{
    return rate_over_looks(looks, tolerance);
}

void check(const SeenRate& seen, Steadiness state, double rate, int times)
{
    CHECK(seen.sustained.steadiness == state);
    CHECK(seen.sustained.rate.median.value == Approx(rate));
    CHECK(seen.times == times);
}

}  // namespace

TEST_CASE("one look is seen once, and two are steady if they are ten minutes apart")
{
    check(over({look(0, 100)}), Steadiness::seen_once, 100, 1);
    check(over({look(0, 100), look(9, 100.4)}), Steadiness::seen_once, 100.4, 1);

    // Six medians, 100 and 100.4: mean 100.2, squares 6 · 0.2² = 0.24, error √(0.24 / 5 / 6) = 0.08944, half width
    // 3.163 · 0.08944 = 0.2829.
    const SeenRate steady = over({look(0, 100), look(11, 100.4)});
    check(steady, Steadiness::steady, 100.2, 2);
    CHECK(steady.sustained.rate.low.value == Approx(99.9171).epsilon(1e-6));
    CHECK(steady.sustained.rate.high.value == Approx(100.4829).epsilon(1e-6));
    CHECK(steady.over.value == 11 * minute);
    // Looks at 0, 6 and 12 minutes are two times; the order does not count.
    check(over({look(12, 100), look(6, 100), look(0, 100)}), Steadiness::steady, 100, 2);
    check(over({}), Steadiness::at_least, 0, 0);
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
    looks.push_back(look(66, 130, 1));
    check(over(looks), Steadiness::at_least, 129.87, 1);
}

TEST_CASE("slower looks do not count")
{
    check(over({look(0, 100), look(11, 60), look(22, 100)}), Steadiness::steady, 100, 2);
    check(over({look(0, 100), look(11, 60)}), Steadiness::seen_once, 100, 1);
}

TEST_CASE("the upper end of rates that differ by themselves is no steady rate")
{
    // 98 lies below the window, 98.5 to 101.5, and above 97: two rounds are a third of six, three are more.
    check(over({look(0, 100), look(11, 100), look(22, 98, 2)}), Steadiness::steady, 100, 2);
    check(over({look(0, 100), look(11, 100), look(22, 98, 3)}), Steadiness::at_least, 100, 2);
    check(over({look(0, 100), look(11, 100), look(22, 96, 3)}), Steadiness::steady, 100, 2);
}

TEST_CASE("a time with disturbed samples alone confirms nothing")
{
    Look disturbed = look(11, 100);
    for (Round& round : disturbed.rounds)
        for (RateSample& sample : round) sample.disturbed = true;
    check(over({look(0, 100), disturbed}), Steadiness::seen_once, 100, 1);
    check(over({disturbed, look(22, 100), look(33, 100)}), Steadiness::steady, 100, 2);
}

TEST_CASE("rounds of another state confirm a rate and do not change it")
{
    const bool before = false;
    check(over({look(0, 100, 3, before), look(11, 100.4)}), Steadiness::steady, 100.4, 2);
    check(over({look(0, 120, 3, before), look(11, 100)}), Steadiness::seen_once, 100, 1);
    check(over({look(0, 100, 3, before), look(11, 100, 3, before)}), Steadiness::seen_once, 100, 2);
}

TEST_CASE("a rate that most looks lose in their course is not steady")
{
    Look falls = look(0, 100);
    for (const Round& round : look(0, 70).rounds) falls.rounds.push_back(round);
    Look again = falls;
    again.time.value = 11 * minute;
    CHECK(over({falls, again}).sustained.steadiness == Steadiness::changed);
    // One of two looks met a neighbour that came.
    check(over({falls, look(11, 100)}), Steadiness::steady, 100, 2);
}

TEST_CASE("where the clock varies looks are compared per clock")
{
    const Estimate<Hertz> clock{{2.5}, {2}, {3}, 6, 0};
    std::vector<Look> looks{look(0, 200), look(11, 300)};
    for (Look& one : looks) one.clock = clock;
    for (std::size_t i = 0; i < looks.size(); ++i)
        for (Round& round : looks[i].rounds)
            for (RateSample& sample : round) sample.clock = i == 0 ? 2 : 3;
    // 100 per clock in both.
    const SeenRate seen = over(looks);
    check(seen, Steadiness::clock_varied, 250, 2);
    CHECK(seen.sustained.rate.low.value == Approx(200));
    CHECK(seen.sustained.rate.high.value == Approx(300));
}
