// The spread between rounds, and the agreement of two calibrations under synthetic interference.
#include "ert/method/ceilings/round_spread.hpp"
#include "tests/method/sweeps.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::tests;

namespace {

constexpr double clock_rate = 4e9;

/// The shortfall of a round from the machine's rate, as a share; at least 0.
using Interference = std::function<double(std::mt19937&)>;

double quiet(std::mt19937& random)
{
    return std::abs(std::normal_distribution<double>(0, 0.003)(random));
}

/// Neighbours cause a loss of up to an eighth in one of three rounds.
double rough(std::mt19937& random)
{
    const double share = std::uniform_real_distribution<double>(0, 1)(random);
    return quiet(random) + (share < 0.35 ? 0.125 * std::uniform_real_distribution<double>(0, 1)(random) : 0);
}

Measurement measured_row(const std::string& operation, double bytes, double rate, double clock, int round)
{
    Measurement made = row(operation, "avx512", 1, bytes, rate);
    made.point.set("round", std::to_string(round));
    for (int i = -4; i <= 4; ++i) {
        Sample sample;
        sample.seconds = Seconds{1e9 / rate * (1 + 0.0005 * i)};
        sample.clock = Hertz{clock};
        made.samples.push_back(sample);
    }
    return made;
}

/// A load sweep, and one to four rounds of each operation at three sizes in the last cache; the interference decides
/// the number. The cores' clock varies, and all rates with it.
std::vector<Measurement> calibration(const Interference& interference, unsigned seed)
{
    std::mt19937 random(seed);
    const Shape truth = staircase(three_caches, 20e9);
    std::vector<Measurement> rows = sweep(truth, 0.002, seed);
    std::uniform_real_distribution<double> wander(0.97, 1.03);
    for (const char* const operation : {"store", "copy", "update", "triad"}) {
        for (const double bytes : {6 * MiB, 8 * MiB, 12 * MiB}) {
            const int rounds = 1 + static_cast<int>(random() % 4);
            for (int round = 1; round <= rounds; ++round) {
                const double clock = wander(random);
                const double rate = truth(bytes) * clock * (1 - interference(random));
                rows.push_back(measured_row(operation, bytes, rate, clock * clock_rate, round));
            }
        }
    }
    return rows;
}

struct Agreement {
    int pairs = 0;
    int agree = 0;
    double widest = 0;  ///< the widest half-width
};

bool meet(const Rate& one, const Rate& other)
{
    return one.low <= other.high && other.low <= one.high;
}

Agreement of_calibrations_in_a_row(const Interference& interference)
{
    constexpr unsigned calibrations = 60;
    Agreement found;
    std::vector<Ceiling> before;
    for (unsigned seed = 1; seed <= calibrations; ++seed) {
        std::vector<Ceiling> now;
        for (const Ceiling& ceiling : fit_ceilings(calibration(interference, seed), machine()).all)
            if (ceiling.level == "L3" && ceiling.operation != "load") now.push_back(ceiling);
        REQUIRE(now.size() == 4);
        for (std::size_t i = 0; i < before.size(); ++i, ++found.pairs)
            found.agree += meet(before[i].rate, now[i].rate) ? 1 : 0;
        for (const Ceiling& ceiling : now) found.widest = std::max(found.widest, ceiling.rate.relative_half_width());
        before = now;
    }
    return found;
}

}  // namespace

TEST_CASE("rounds that agree do not change an interval")
{
    RoundSpread between;
    for (int i = 0; i < 10; ++i) between.add("L3", 100, {100, 100});
    CHECK(between.bounds("L3", 1).low == 1);
    CHECK(between.bounds("L3", 1).high == 1);
}

TEST_CASE("bounds are wide for one round, narrower for two, and 1 for three")
{
    RoundSpread between;
    for (int i = 0; i < 50; ++i) between.add("L3", 100, {100, 100.0 - 0.4 * i});
    const auto one = between.bounds("L3", 1);
    const auto two = between.bounds("L3", 2);
    CHECK(one.low == 1);
    CHECK(one.high == Approx(100.0 / 81.2).epsilon(0.01));
    CHECK(two.high > 1.05);
    CHECK(two.high < one.high - 0.02);
    CHECK(between.bounds("L3", 3).high == 1);
}

TEST_CASE("single rounds, other levels and too few ratios give no bounds")
{
    RoundSpread between;
    for (int i = 0; i < 50; ++i) between.add("L3", 100, {80});
    for (int i = 0; i < 5; ++i) between.add("L2", 100, {100, 80});
    CHECK(between.bounds("L3", 1).high == 1);
    CHECK(between.bounds("L2", 1).high == 1);
    CHECK(between.bounds("DRAM", 1).high == 1);
}

TEST_CASE("under strong interference repeated calibrations agree on 19 ceilings of 20")
{
    const Agreement found = of_calibrations_in_a_row(rough);
    CAPTURE(found.agree, found.pairs);
    CHECK(found.agree >= 0.95 * found.pairs);
}

TEST_CASE("under weak interference repeated calibrations agree, and no interval is wide")
{
    const Agreement found = of_calibrations_in_a_row(quiet);
    CAPTURE(found.agree, found.pairs, found.widest);
    CHECK(found.agree >= 0.97 * found.pairs);
    CHECK(found.widest < 0.03);
}

TEST_CASE("a failed row with an unresolved keyword is ignored")
{
    std::vector<Measurement> rows = calibration(quiet, 1);
    Measurement unsupported = row("load", "avx512", 1, 8 * MiB, 1e9);
    unsupported.status = Status::unsupported;
    unsupported.point.set("working_set", "levels");
    rows.push_back(unsupported);
    CHECK(fit_ceilings(rows, machine()).all.size() == fit_ceilings(calibration(quiet, 1), machine()).all.size());
}
