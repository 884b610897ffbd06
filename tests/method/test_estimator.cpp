// The estimator of ceilings under simulated interference: how often its interval holds and "steady" is false.
#include "ert/method/ceilings/estimator.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <tuple>

using namespace roof;

namespace {

/// A neighbour that works at times. `duty`: share of the time; `burst`: mean length in seconds.
class Neighbour {
  public:
    Neighbour(double duty, double burst, std::mt19937& random) : duty_(duty), burst_(burst), random_(random)
    {
        works_ = uniform() < duty;
        begin();
    }

    bool works_at(double seconds)
    {
        while (until_ < seconds) {
            works_ = !works_;
            begin();
        }
        return works_;
    }
    /// The share of the rate that the present burst takes.
    double strength() const { return strength_; }

  private:
    double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
    void begin()
    {
        strength_ = 0.05 + 0.55 * uniform();
        const double mean = works_ ? burst_ : burst_ * (1 - duty_) / std::max(duty_, 1e-9);
        until_ += std::exponential_distribution<double>(1 / mean)(random_);
    }

    double duty_;
    double burst_;
    std::mt19937& random_;
    bool works_ = false;
    double until_ = 0;
    double strength_ = 0;
};

struct Case {
    double duty = 0;  ///< of the interference
    bool shares_core =
        false;  ///< an SMT neighbour: halves the rate, and nine of ten samples show it; else memory traffic, unseen
    double noise = 0.001;  ///< standard deviation of a sample, as a share
    double tolerance = 0.01;
    bool has_two_clocks = false;  ///< 1 and 0.95, each half of the time
};

constexpr double truth = 100;

struct Calibrated {
    SustainedRate rate;
    /// Less than a tenth of the samples were undisturbed, so that the machine beside its neighbour is the truth.
    bool has_neighbours_truth = false;
};

/// Four rounds, and four more where the result is not steady then: as a calibration does.
Calibrated calibrated(const Case& given, std::mt19937& random)
{
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0, 1);
    Neighbour neighbour(given.duty, 2, random);
    Neighbour slow_clock(given.has_two_clocks ? 0.5 : 0, 3, random);
    const Estimate<Hertz> clock =
        given.has_two_clocks ? Estimate<Hertz>{{0.975}, {0.95}, {1}, 100, 0} : Estimate<Hertz>{};
    std::vector<Round> rounds;
    SustainedRate result;
    double seconds = 0;
    int undisturbed = 0;
    int samples = 0;
    while (rounds.size() < 4 || (result.steadiness != Steadiness::steady && rounds.size() == 4) ||
           (rounds.size() > 4 && rounds.size() < 8)) {
        seconds += rounds.size() < 4 ? 4 : 1.5;
        Round& round = rounds.emplace_back();
        for (int i = 0; i < 9; ++i) {
            const double at = seconds + 0.003 * i;
            const double hertz = slow_clock.works_at(at) ? 0.95 : 1;
            RateSample sample{truth * hertz * (1 + given.noise * normal(random)), given.has_two_clocks ? hertz : 0};
            ++samples;
            if (neighbour.works_at(at)) {
                sample.rate *= given.shares_core ? 0.5 * (1 + 0.02 * normal(random))
                                                 : 1 - neighbour.strength() * (0.7 + 0.6 * uniform(random));
                sample.disturbed = given.shares_core && uniform(random) < 0.9;
            } else {
                ++undisturbed;
                if (uniform(random) < 0.05) sample.rate *= 1 - 0.3 * uniform(random);
            }
            round.push_back(sample);
        }
        result = sustained_rate(rounds, given.tolerance, clock);
    }
    return {result, 10 * undisturbed < samples};
}

struct Tally {
    int cases = 0;
    int steady = 0;
    int held = 0;            ///< steady, with the truth in the interval
    int falsely_steady = 0;  ///< steady, more than 3% below the truth
    int bounds = 0;
    int bounds_above = 0;  ///< by half a percent
    int disagreeing = 0;   ///< pairs of calibrations whose intervals do not meet
};

/// A lower bound has no upper end.
double high_end(const SustainedRate& rate)
{
    return rate.steadiness == Steadiness::at_least ? HUGE_VAL : rate.rate.high.value;
}

Tally tally_of(const Case& given, int repetitions)
{
    std::mt19937 random(1);
    Tally tally;
    const double value = given.has_two_clocks ? truth * 0.975 : truth;
    SustainedRate before;
    for (int i = 0; i < repetitions; ++i) {
        const auto [now, has_neighbours_truth] = calibrated(given, random);
        if (has_neighbours_truth) continue;
        ++tally.cases;
        if (before.rate.n > 0 &&
            std::max(now.rate.low.value, before.rate.low.value) > std::min(high_end(now), high_end(before)))
            ++tally.disagreeing;
        before = now;
        const double share = now.rate.median.value / value;
        if (now.steadiness == Steadiness::at_least) {
            ++tally.bounds;
            tally.bounds_above += share > 1.005 ? 1 : 0;
        } else if (now.steadiness == Steadiness::steady || now.steadiness == Steadiness::clock_varied) {
            ++tally.steady;
            tally.held += now.rate.low.value <= value && value <= now.rate.high.value ? 1 : 0;
            tally.falsely_steady += share < 0.97 ? 1 : 0;
        }
    }
    return tally;
}

/// Up to 90% of the samples disturbed, bursts of 2 s beside rounds of 27 ms, quiet and noisy levels, one or two clocks.
std::vector<Case> all_cases()
{
    std::vector<Case> cases;
    for (const auto& [noise, tolerance] : {std::pair{0.0005, 0.01}, {0.003, 0.01}, {0.01, 0.03}, {0.02, 0.03}})
        for (const bool shares_core : {false, true})
            for (const double duty : {0.0, 0.3, 0.6, 0.9}) cases.push_back({duty, shares_core, noise, tolerance});
    for (const double duty : {0.0, 0.3, 0.6, 0.9}) cases.push_back({duty, false, 0.001, 0.01, true});
    return cases;
}

Round round_of(const std::vector<double>& rates)
{
    Round round;
    for (const double rate : rates) round.push_back({rate, 0, false});
    return round;
}

const std::vector<double> quiet{99.9, 100, 100.1, 100, 99.95};

}  // namespace

TEST_CASE("in each kind of interference steady intervals hold the truth, and lower bounds are not above it")
{
    for (const Case& given : all_cases()) {
        const Tally tally = tally_of(given, 400);
        CAPTURE(given.duty, given.shares_core, given.noise, given.has_two_clocks, tally.cases, tally.steady, tally.held,
                tally.falsely_steady, tally.bounds, tally.bounds_above, tally.disagreeing);
        // 93%, less three standard errors of a share.
        const double errors = 3 * std::sqrt(0.93 * 0.07 * tally.steady);
        CHECK(tally.held >= 0.93 * tally.steady - errors);
        CHECK(tally.falsely_steady <= 0.01 * tally.cases + 1);
        CHECK(tally.bounds_above <= 0.01 * tally.cases + 1);
        CHECK(tally.disagreeing <= 0.05 * tally.cases);
        if (given.duty <= 0.3) CHECK(tally.steady >= 0.6 * tally.cases);
        if (given.duty == 0) CHECK(tally.steady >= 0.95 * tally.cases);
    }
}

TEST_CASE("without interference the rate is the mean of the rounds' medians, with Student's interval")
{
    const SustainedRate rate =
        sustained_rate({round_of({100, 100, 100}), round_of({101, 101, 101}), round_of({102, 102, 102})}, 0.04);
    CHECK(rate.rate.median.value == Approx(101));
    CHECK(rate.rate.high.value == Approx(101 + 6.205 / std::sqrt(3)));
    CHECK(rate.rate.low.value == Approx(101 - 6.205 / std::sqrt(3)));
    CHECK(rate.rate.n == 9);
    CHECK(rate.rounds == 3);
    CHECK(rate.steadiness == Steadiness::steady);
}

TEST_CASE("slow samples do not move the rate while nearly half of all agree")
{
    std::vector<Round> rounds(3, round_of(quiet));
    for (Round& round : rounds)
        for (int i = 0; i < 6; ++i) round.push_back({60.0 + i, 0, false});
    const SustainedRate rate = sustained_rate(rounds, 0.01);
    CHECK(rate.rate.median.value == Approx(100));
    CHECK(rate.steadiness == Steadiness::steady);
    for (Round& round : rounds) round.push_back({50, 0, false});
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::at_least);
    CHECK(sustained_rate(rounds, 0.01).rate.median.value == Approx(100).epsilon(0.001));
}

TEST_CASE("a rate that two rounds reached is a lower bound")
{
    const SustainedRate rate = sustained_rate({round_of(quiet), round_of(quiet), round_of({50, 51, 52})}, 0.01);
    CHECK(rate.steadiness == Steadiness::at_least);
    CHECK(rate.rounds == 2);
    // Of ten samples, the second smallest: below the median with 98% probability.
    CHECK(rate.rate.median.value == Approx(99.9));
    CHECK(rate.rate.low.value == Approx(99.9));
}

TEST_CASE("a rate that was reached only beside a neighbour on the core is a lower bound")
{
    std::vector<Round> rounds(3, round_of(quiet));
    for (Round& round : rounds)
        for (std::size_t i = 0; i < 3; ++i) round[i].disturbed = true;
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::at_least);
    for (Round& round : rounds) round[0].disturbed = false;
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::steady);
}

TEST_CASE("two samples that are too fast do not set a rate, and three are a lower bound of what the hardware does")
{
    std::vector<Round> rounds(3, round_of(quiet));
    for (int i = 0; i < 2; ++i) rounds[0].push_back({130, 0, false});
    CHECK(sustained_rate(rounds, 0.01).rate.median.value == Approx(100).epsilon(0.001));
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::at_least);
    rounds[0].push_back({129.9, 0, false});
    CHECK(sustained_rate(rounds, 0.01).rate.median.value == Approx(129.9));
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::at_least);
}

TEST_CASE(
    "one round of four samples among slower ones is the lower bound of its slowest, as rounds of a loaded machine were")
{
    // fma fp32 of a Zen 3 with two threads beside ten processes, GFLOP/s; its clock allows 207.
    const SustainedRate rate = sustained_rate({round_of({204.3, 205.1, 205.8, 206.1}), round_of({7.1, 7.4, 7.3, 7.2}),
                                               round_of({7.0, 7.3, 7.2}), round_of({7.2, 7.4, 7.1})},
                                              0.01);
    CHECK(rate.steadiness == Steadiness::at_least);
    CHECK(rate.rate.median.value == Approx(204.3));
}

TEST_CASE("a loop with two rates is not steady at the slower one")
{
    // bf16 widened on a Zen 3, 27.2 and 31.8 FLOP a clock: most samples of most rounds at the slower rate, some not.
    std::vector<Round> rounds(8, round_of({88.1, 88.2, 88.15, 88.2, 88.1, 88.15, 88.2, 88.1, 88.15}));
    for (const double rate : {103.1, 103.0, 103.2}) rounds[2].push_back({rate, 0, false});
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::at_least);
    CHECK(sustained_rate(rounds, 0.01).rate.median.value == Approx(103));
}

TEST_CASE("one sample of 28 that is too fast is chance, two are not")
{
    std::vector<Round> rounds(3, round_of({99.9, 100, 100.1, 100, 99.95, 100, 100, 100, 100}));
    rounds[0].push_back({130, 0, false});
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::steady);
    rounds[1].push_back({130, 0, false});
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::at_least);
}

TEST_CASE("faster samples that are left out set no rate, but make it a lower bound")
{
    std::vector<Round> rounds(3, round_of(quiet));
    const auto add = [&](double rate) {
        for (int i = 0; i < 5; ++i) rounds[0].push_back({rate, 0, false, true});
    };
    add(60);
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::steady);
    CHECK(sustained_rate(rounds, 0.01).rate.median.value == Approx(100).epsilon(0.001));
    add(160);
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::at_least);
    CHECK(sustained_rate(rounds, 0.01).rate.median.value == Approx(100).epsilon(0.001));
}

TEST_CASE("a ceiling whose late rounds are slower has changed, and says when and to what")
{
    const std::vector<double> slow{70, 70.1, 69.9, 70, 70};
    std::vector<Round> rounds{round_of(quiet), round_of(quiet), round_of(quiet), round_of(slow), round_of(slow)};
    const SustainedRate rate = sustained_rate(rounds, 0.01);
    CHECK(rate.steadiness == Steadiness::changed);
    CHECK(name(rate.steadiness) == "unsteady: changed");
    CHECK(std::tuple(rate.changed_at, rate.centre, rate.after) == std::tuple(3, 100, 70));
    // A neighbour that left again: the last round agrees.
    rounds.push_back(round_of(quiet));
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::steady);
    // One that comes and goes is there at the end.
    rounds = {round_of(quiet), round_of(slow), round_of(quiet), round_of(quiet), round_of(slow)};
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::at_least);
    // Slow rounds before fast ones are interference.
    rounds = {round_of(slow), round_of(quiet), round_of(quiet), round_of(quiet)};
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::steady);
    // Samples of disturbed rounds show no change.
    rounds = {round_of(quiet), round_of(quiet), round_of(quiet), round_of(slow)};
    for (RateSample& sample : rounds[3]) sample.disturbed = true;
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::steady);
}

TEST_CASE("a rate that rows begin with and do not keep is a lower bound")
{
    // Memory with a bucket of tokens: five samples at 100, then four at 40.
    std::vector<Round> rounds(4, round_of({100, 100.1, 99.9, 100, 100, 40, 40.1, 39.9, 40}));
    for (Round& round : rounds)
        for (std::size_t i = 5; i < round.size(); ++i) round[i].is_late = true;
    const SustainedRate rate = sustained_rate(rounds, 0.03);
    CHECK(rate.steadiness == Steadiness::at_least);
    CHECK(rate.rate.median.value == Approx(100).epsilon(0.002));
}

TEST_CASE("rounds that differ by their pages have the third fastest round, and an interval over all")
{
    // Mean 102.4, deviation 7.3007, half-width 3.495 · 7.3007 / √5 = 11.411. One alone is in the window around 112.
    std::vector<Round> rounds;
    for (const double rate : {106.0, 112.0, 98.0, 103.0, 93.0})
        rounds.push_back(round_of({rate - 0.1, rate, rate, rate + 0.1, rate}));
    const SustainedRate rate = sustained_rate(rounds, 0.03);
    CHECK(rate.steadiness == Steadiness::rounds_disagree);
    CHECK(rate.rate.median.value == Approx(103));
    CHECK(rate.rate.low.value == Approx(102.4 - 11.411).epsilon(1e-4));
    CHECK(rate.rate.high.value == Approx(102.4 + 11.411).epsilon(1e-4));
}

TEST_CASE("rounds that lie apart are unsteady")
{
    // Half-width: 6.205 * 0.5 / sqrt(3) = 1.79.
    const std::vector<Round> rounds{round_of({99.5, 99.5, 99.5}), round_of({100, 100, 100}),
                                    round_of({100.5, 100.5, 100.5})};
    CHECK(sustained_rate(rounds, 0.01).steadiness == Steadiness::rounds_disagree);
    CHECK(sustained_rate(rounds, 0.03).steadiness == Steadiness::steady);
}

TEST_CASE("over all rounds the rate is the mean of their medians, with Student's interval, and the fastest is no bound")
{
    std::vector<Round> rounds{round_of({901, 902, 903}), round_of({941, 941, 941}), round_of({924, 925, 1500})};
    CHECK(sustained_rate(rounds, 0.01).rounds < 3);
    const SustainedRate rate = rate_over_rounds(rounds, 0.01);
    // Medians 902, 941 and 925: squares of their distances to the mean add up to 768.67.
    CHECK(rate.rate.median.value == Approx(922.667));
    CHECK(rate.rate.high.value == Approx(922.667 + 6.205 * std::sqrt(768.667 / 2 / 3)));
    CHECK(rate.rate.low.value == Approx(922.667 - 6.205 * std::sqrt(768.667 / 2 / 3)));
    CHECK(rate.rounds == 3);
    CHECK(rate.rate.n == 9);
    CHECK(rate.steadiness == Steadiness::rounds_disagree);
    CHECK(rate.clock.n == 0);  // none was read
    rounds[1] = round_of({100, 110, 2000});
    CHECK(rate_over_rounds(rounds, 0.01).rate.low.value == 0);  // no rate is negative
    for (RateSample& sample : rounds[1]) sample.disturbed = true;
    CHECK(rate_over_rounds(rounds, 0.01).rate.n == 0);  // two rounds show no spread
}

TEST_CASE("over all rounds the clock and the rate per clock are those of the same rounds")
{
    // Three rounds of a tensor core whose power sets the clock. The fastest alone would make 900 / 1.74 of it.
    std::vector<Round> rounds{round_of({926, 926, 926}), round_of({937, 937, 937}), round_of({837, 837, 837})};
    const std::vector<double> clocks{1.72, 1.74, 1.56};
    for (std::size_t i = 0; i < rounds.size(); ++i)
        for (RateSample& sample : rounds[i]) sample.clock = clocks[i];
    const SustainedRate rate = rate_over_rounds(rounds, 0.01);
    CHECK(rate.rate.median.value == Approx(900));
    CHECK(rate.clock.median.value == Approx(5.02 / 3));
    CHECK(rate.per_clock.median.value == Approx((926 / 1.72 + 937 / 1.74 + 837 / 1.56) / 3));
    for (RateSample& sample : rounds[2]) sample.clock = 0;
    CHECK(rate_over_rounds(rounds, 0.01).clock.n == 0);
    CHECK(rate_over_rounds(rounds, 0.01).rate.median.value == Approx(900));
}

TEST_CASE("with a clock that varied, rounds are compared per clock, and the rate has the clock's interval")
{
    std::vector<Round> rounds;
    for (const double hertz : {3e9, 3.1e9, 3.2e9}) {
        rounds.emplace_back();
        for (int i = 0; i < 5; ++i) rounds.back().push_back({64 * hertz, hertz, false});
    }
    rounds[1].push_back({1, 0, false});  // without a clock: left out
    const SustainedRate rate = sustained_rate(rounds, 0.01, {{3.1e9}, {3e9}, {3.2e9}, 3, 0});
    CHECK(rate.per_clock.median.value == Approx(64));
    CHECK(rate.per_clock.relative_half_width() < 1e-9);
    CHECK(rate.rate.median.value == Approx(64 * 3.1e9));
    CHECK(rate.rate.low.value == Approx(64 * 3e9));
    CHECK(rate.rate.high.value == Approx(64 * 3.2e9));
    CHECK(rate.steadiness == Steadiness::clock_varied);
    CHECK(name(rate.steadiness) == "unsteady: clock");
}

TEST_CASE("no samples give no rate")
{
    CHECK(sustained_rate({}, 0.01).rate.n == 0);
    CHECK(sustained_rate({{}, {}}, 0.01).rate.median.value == 0);
}
