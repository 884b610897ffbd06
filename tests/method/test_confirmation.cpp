// Confirmed and unconfirmed levels of sweeps with several thread counts, from synthetic sweeps.
#include "tests/method/sweeps.hpp"

using namespace roof;
using namespace roof::tests;

namespace {

using Caches = std::vector<std::pair<double, double>>;

const Caches two_threads{{96 * KiB, 900e9}, {2 * MiB, 400e9}, {32 * MiB, 190e9}};
const Names five_levels{"L1", "L2", "L3", "L4", "DRAM"};

/// A sweep with one thread and one with more.
Ceilings ceilings_of(const Caches& one, const Caches& more, int threads = 2, double memory_rate = 50e9)
{
    std::vector<Measurement> rows = sweep(staircase(one, 30e9));
    const std::vector<Measurement> others = sweep(staircase(more, memory_rate), 0, 1, "load", threads);
    rows.insert(rows.end(), others.begin(), others.end());
    return fit_ceilings(rows, machine());
}

/// A sweep with two threads. If `disturbance` is not empty, all of its samples were disturbed.
std::vector<Measurement> sampled(const Caches& caches, const std::string& disturbance)
{
    std::vector<Measurement> rows = sweep(staircase(caches, 50e9), 0, 1, "load", 2);
    for (Measurement& row : rows) {
        Sample sample;
        sample.seconds = row.seconds.median;
        sample.used = true;
        sample.disturbance = disturbance;
        row.samples.assign(9, sample);
    }
    return rows;
}

Ceilings with_two_threads(const Caches& one, const std::vector<Measurement>& others)
{
    std::vector<Measurement> rows = sweep(staircase(one, 30e9));
    rows.insert(rows.end(), others.begin(), others.end());
    return fit_ceilings(rows, machine());
}

Names names_with(const Ceilings& ceilings, int threads)
{
    Names found;
    for (const MeasuredLevel& level : ceilings.levels_by_threads)
        if (level.threads == threads) found.push_back(level.name);
    return found;
}

bool has_ceiling_at(const Ceilings& ceilings, double rate)
{
    return std::ranges::any_of(ceilings.all, [&](const Ceiling& c) { return c.rate.median.value == Approx(rate); });
}

}  // namespace

TEST_CASE("a plateau that only one thread shows is neither a level nor a ceiling")
{
    const Caches drooping{{48 * KiB, 450e9}, {1 * MiB, 200e9}, {8 * MiB, 100e9}, {32 * MiB, 60e9}};
    const Ceilings ceilings = ceilings_of(drooping, two_threads);
    CHECK(names_with(ceilings, 1) == four_levels);
    CHECK(names_with(ceilings, 2) == four_levels);
    REQUIRE(ceilings.unconfirmed.size() == 1);
    CHECK(ceilings.unconfirmed[0].name == "after L3");
    CHECK(ceilings.unconfirmed[0].seen_with == std::vector{1});
    CHECK(ceilings.unconfirmed[0].to.value == 32 * MiB);
    CHECK_FALSE(has_ceiling_at(ceilings, 60e9));
    CHECK(rate(ceilings, "L3") == Approx(100e9));
}

TEST_CASE("a plateau that only several threads show is unconfirmed, too")
{
    const Caches drooping{{96 * KiB, 900e9}, {2 * MiB, 400e9}, {12 * MiB, 190e9}, {48 * MiB, 120e9}};
    const Ceilings ceilings = ceilings_of(three_caches, drooping);
    CHECK(names(ceilings) == four_levels);
    REQUIRE(ceilings.unconfirmed.size() == 1);
    CHECK(ceilings.unconfirmed[0].seen_with == std::vector{2});
    CHECK(rate(ceilings, "L3", 2) == Approx(190e9));
}

TEST_CASE("a false plateau between two caches is removed, and the levels behind it keep their names")
{
    const Caches squeezed{{48 * KiB, 450e9}, {512 * KiB, 200e9}, {2.5 * MiB, 150e9}, {32 * MiB, 100e9}};
    const Ceilings ceilings = ceilings_of(squeezed, two_threads);
    REQUIRE(ceilings.unconfirmed.size() == 1);
    CHECK(ceilings.unconfirmed[0].name == "after L2");
    CHECK(rate(ceilings, "L2") == Approx(200e9));
    CHECK(rate(ceilings, "L3") == Approx(100e9));
}

TEST_CASE("a fourth cache that all sweeps show is a level")
{
    const Caches one{{32 * KiB, 450e9}, {256 * KiB, 200e9}, {6 * MiB, 100e9}, {96 * MiB, 50e9}};
    const Caches two{{64 * KiB, 900e9}, {512 * KiB, 400e9}, {6 * MiB, 190e9}, {96 * MiB, 90e9}};
    const Ceilings ceilings = ceilings_of(one, two, 2, 35e9);
    CHECK(names_with(ceilings, 1) == five_levels);
    CHECK(names_with(ceilings, 2) == five_levels);
    CHECK(ceilings.unconfirmed.empty());
    CHECK(ceilings.levels[3].sharing == Sharing::shared);
    CHECK(ceilings.levels[3].seen_with == std::vector{1, 2});
}

TEST_CASE("a disturbed sweep removes no level of an undisturbed one")
{
    // The second level of two threads overlaps the third.
    const Caches merged{{96 * KiB, 900e9}, {32 * MiB, 190e9}};
    const Ceilings quiet = with_two_threads(three_caches, sampled(merged, ""));
    CHECK(names_with(quiet, 1) == Names{"L1", "L2", "DRAM"});
    CHECK(quiet.unconfirmed.size() == 1);

    const Ceilings ceilings = with_two_threads(three_caches, sampled(merged, "a core was shared"));
    CHECK(names_with(ceilings, 1) == four_levels);
    CHECK(names_with(ceilings, 2) == Names{"L1", "L3", "DRAM"});
    CHECK(ceilings.unconfirmed.empty());
    CHECK(rate(ceilings, "L2") == Approx(200e9));
    CHECK(ceilings.levels_by_threads[1].seen_with == std::vector{1});
    const MeasuredLevel& third = ceilings.levels.at(1);
    CHECK(third.name == "L3");
    CHECK(third.from.value >= 2 * MiB);  // too large for the second level of each
}

TEST_CASE("a disturbed sweep removes a level as narrow as one from neighbours' lines")
{
    const Caches drooping{{48 * KiB, 450e9}, {1 * MiB, 200e9}, {8 * MiB, 100e9}, {24 * MiB, 60e9}};
    const Ceilings ceilings = with_two_threads(drooping, sampled(two_threads, "a core was shared"));
    CHECK(names_with(ceilings, 1) == four_levels);
    CHECK(ceilings.unconfirmed.size() == 1);
}

TEST_CASE("with a single sweep all its levels are kept")
{
    const Caches caches{{48 * KiB, 450e9}, {1 * MiB, 200e9}, {8 * MiB, 100e9}, {32 * MiB, 60e9}};
    const Ceilings ceilings = fit_ceilings(sweep(staircase(caches, 30e9)), machine());
    CHECK(names(ceilings) == five_levels);
    CHECK(ceilings.unconfirmed.empty());
}

TEST_CASE("a shared cache is kept if private ones hide it from many threads")
{
    const Caches all_cores{{3 * MiB, 9000e9}, {64 * MiB, 4000e9}};
    const Caches one_core{{48 * KiB, 450e9}, {1 * MiB, 200e9}, {60 * MiB, 60e9}};
    const Ceilings ceilings = ceilings_of(one_core, all_cores, 64, 300e9);
    CHECK(names_with(ceilings, 1) == four_levels);
    CHECK(names_with(ceilings, 64) == Names{"L1", "L2", "DRAM"});
    CHECK(ceilings.unconfirmed.empty());
}

TEST_CASE("a sweep does not remove a level whose sizes it lacks")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    for (const double bytes : {128 * MiB, 192 * MiB, 256 * MiB}) rows.push_back(row("load", "avx512", 2, bytes, 50e9));
    const Ceilings ceilings = fit_ceilings(rows, machine());
    CHECK(names_with(ceilings, 1) == four_levels);
    CHECK(ceilings.unconfirmed.empty());
}
