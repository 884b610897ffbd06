// Ceilings from synthetic sweeps.
#include "tests/method/sweeps.hpp"

using namespace roof;
using namespace roof::tests;

TEST_CASE("four clean levels are found, with their rates and extents")
{
    const Ceilings ceilings = fit_ceilings(sweep(staircase(three_caches, 30e9)), machine());
    REQUIRE(names(ceilings) == four_levels);
    CHECK(rate(ceilings, "L1") == Approx(450e9));
    CHECK(rate(ceilings, "L2") == Approx(200e9));
    CHECK(rate(ceilings, "L3") == Approx(100e9));
    CHECK(rate(ceilings, "DRAM") == Approx(30e9));
    CHECK(ceilings.levels[0].from.value == 8 * KiB);
    CHECK(ceilings.levels[0].to.value == 48 * KiB);
    CHECK(ceilings.levels[1].to.value == 1 * MiB);
    CHECK(ceilings.levels[2].to.value == 32 * MiB);
    for (const MeasuredLevel& level : ceilings.levels) CHECK_FALSE(level.contradiction);
}

TEST_CASE("a ceiling has the interval of its row")
{
    const Ceilings ceilings = fit_ceilings(sweep(staircase(three_caches, 30e9)), machine());
    const Ceiling& l1 = *ceilings.bandwidth("cpu", "L1", 1);
    CHECK(l1.rate.n == 9);
    CHECK(l1.rate.low.value == Approx(450e9 / 1.01));
    CHECK(l1.rate.high.value == Approx(450e9 / 0.99));
    CHECK(l1.isa == "avx512");
    CHECK(l1.unit() == "B/s");
}

TEST_CASE("noise of 5% moves no level")
{
    const Shape shape = staircase(three_caches, 30e9);
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        const Ceilings ceilings = fit_ceilings(sweep(shape, 0.05, seed), machine());
        REQUIRE(names(ceilings) == four_levels);
        CHECK(rate(ceilings, "L1") == Approx(450e9).epsilon(0.15));
        CHECK(rate(ceilings, "DRAM") == Approx(30e9).epsilon(0.2));  // of two sets
        for (const MeasuredLevel& level : ceilings.levels) CHECK_FALSE(level.contradiction);
    }
}

TEST_CASE("a machine with two caches has three levels, and the last is memory")
{
    const Ceilings ceilings = fit_ceilings(sweep(staircase({{32 * KiB, 200e9}, {2 * MiB, 90e9}}, 15e9)), machine());
    CHECK(names(ceilings) == Names{"L1", "L2", "DRAM"});
    CHECK(rate(ceilings, "DRAM") == Approx(15e9));
}

TEST_CASE("an L3 with a falling rate is one level, and its ceiling is that of sets that the L2 hardly helps to serve")
{
    const Shape shape = [](double bytes) {
        const double sag = bytes > 2 * MiB ? std::pow(bytes / (2 * MiB), -0.13) : 1;
        return bytes <= 24 * MiB ? sag * staircase({{96 * KiB, 900e9}, {2 * MiB, 400e9}}, 195e9)(bytes) : 45e9;
    };
    const Ceilings ceilings = fit_ceilings(sweep(shape), machine());
    REQUIRE(names(ceilings) == four_levels);
    CHECK(ceilings.levels[2].to.value == 24 * MiB);
    // From ten times the edge at 2.4 MiB on: 24 MiB, 195 * 12^-0.13.
    CHECK(rate(ceilings, "L3") == Approx(141.2e9).epsilon(0.01));
}

TEST_CASE("levels whose rates differ by a fifth are separated")
{
    const Shape shape = staircase({{96 * KiB, 420e9}, {2 * MiB, 230e9}, {32 * MiB, 185e9}}, 40e9);
    CHECK(names(fit_ceilings(sweep(shape), machine())) == four_levels);
}

TEST_CASE("one lucky working set does not set a ceiling")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    rows[11].seconds = {Seconds{1e9 / 260e9}, Seconds{1e9 / 260e9}, Seconds{1e9 / 260e9}, 9, 0};
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(names(ceilings) == four_levels);
    CHECK(rate(ceilings, "L2") == Approx(200e9));
}

TEST_CASE("levels are found with wide intervals, and with one working set per octave")
{
    std::vector<Measurement> rows;
    for (Measurement& made : sweep(staircase(three_caches, 30e9))) {
        made.seconds.high = made.seconds.median * 12;
        made.seconds.low = made.seconds.median * 0.5;
        if (std::fmod(std::log2(made.point.number("working_set")), 1) == 0) rows.push_back(made);
    }
    CHECK(names(fit_ceilings(rows, machine())) == four_levels);
}

TEST_CASE("a sweep of a noisy two-core machine, with one working set per octave, has its four levels")
{
    // Measured with two threads on a Zen 5 virtual machine (L1 48 KiB and L2 1 MiB per core, L3 32 MiB): GB/s from 8
    // KiB.
    const std::vector<double> measured{719, 757, 799, 815, 344, 344, 343, 420, 240, 200, 193, 182, 104, 68, 62, 40};
    std::vector<Measurement> rows;
    double bytes = 8 * KiB;
    for (const double gigabytes : measured) {
        rows.push_back(row("load", "avx512", 2, bytes, gigabytes * 1e9));
        bytes *= 2;
    }
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(names(ceilings) == four_levels);
    CHECK(ceilings.levels[0].to.value == 64 * KiB);
    CHECK(ceilings.levels[1].to.value == 1 * MiB);
    // Of 32 MiB half still comes from the L3: 104 GB/s, where the half is at 2 / (1/182 + 1/62) = 92.
    CHECK(ceilings.levels[2].to.value == 32 * MiB);
    CHECK(ceilings.levels[3].to.value == 256 * MiB);
}

TEST_CASE("the end of the sweep is memory even if its points are no plateau")
{
    std::vector<Measurement> rows;
    double bytes = 8 * KiB;
    for (const double gigabytes : {500, 500, 500, 500, 500, 500, 250, 120, 50, 30}) {
        rows.push_back(row("load", "avx512", 1, bytes, gigabytes * 1e9));
        bytes *= 2;
    }
    Machine silent = machine();
    silent.devices.front().levels.clear();
    const Ceilings ceilings = fit_ceilings(rows, silent);
    REQUIRE(names(ceilings) == Names{"L1", "DRAM"});
    CHECK(rate(ceilings, "L1") == Approx(500e9));
    CHECK(rate(ceilings, "DRAM") == Approx(30e9));
}

TEST_CASE("the order of rows does not matter, and failed rows are skipped")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    Measurement failed = row("load", "avx512", 1, 20 * KiB, 9e12);
    failed.status = Status::failed;
    rows.push_back(failed);
    Measurement missing = row("load", "avx512", 1, 700 * KiB, 1);
    missing.status = Status::unsupported;
    missing.seconds = {};
    rows.push_back(missing);
    rows.erase(rows.begin() + 5);
    rows.erase(rows.begin() + 15);
    std::shuffle(rows.begin(), rows.end(), std::mt19937(7));
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(names(ceilings) == four_levels);
    CHECK(rate(ceilings, "L1") == Approx(450e9));
    CHECK(rate(ceilings, "L3") == Approx(100e9));
}

TEST_CASE("the fastest of several instruction sets counts at each working set")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    const std::vector<Measurement> slower =
        sweep(staircase({{48 * KiB, 225e9}, {1 * MiB, 190e9}, {32 * MiB, 110e9}}, 33e9));
    for (Measurement other : slower) {
        other.point.set("isa", "avx2");
        rows.push_back(other);
    }
    const Ceilings ceilings = fit_ceilings(rows, machine());
    CHECK(ceilings.bandwidth("cpu", "L1", 1)->isa == "avx512");
    CHECK(ceilings.bandwidth("cpu", "DRAM", 1)->isa == "avx2");
    CHECK(rate(ceilings, "DRAM") == Approx(33e9));
}

TEST_CASE("other operations use the levels of the load sweep, and the fastest operation bounds the level")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    const auto copies = sweep(staircase({{48 * KiB, 500e9}, {1 * MiB, 190e9}, {28 * MiB, 80e9}}, 20e9), 0, 1, "copy");
    rows.insert(rows.end(), copies.begin(), copies.end());
    const Ceilings ceilings = fit_ceilings(rows, machine());
    const auto copy_of_l3 = std::find_if(ceilings.all.begin(), ceilings.all.end(),
                                         [](const Ceiling& c) { return c.operation == "copy" && c.level == "L3"; });
    REQUIRE(copy_of_l3 != ceilings.all.end());
    CHECK(copy_of_l3->working_set_high.value == 32 * MiB);
    CHECK(copy_of_l3->rate.median.value == Approx(80e9));
    CHECK(ceilings.bandwidth("cpu", "L1", 1)->operation == "copy");
    CHECK(ceilings.bandwidth("cpu", "L2", 1)->operation == "load");
}

TEST_CASE("levels are those of the most threads, with the capacity that these reach")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    const auto both = sweep(staircase({{96 * KiB, 900e9}, {2 * MiB, 400e9}, {32 * MiB, 180e9}}, 50e9), 0, 1, "load", 2);
    rows.insert(rows.end(), both.begin(), both.end());
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(names(ceilings) == four_levels);
    CHECK(ceilings.levels[0].to.value == 96 * KiB);
    CHECK(ceilings.levels[0].reported.value == 96 * KiB);
    CHECK(ceilings.levels[2].reported.value == 32 * MiB);
    CHECK(rate(ceilings, "L1", 1) == Approx(450e9));
    CHECK(rate(ceilings, "L1", 2) == Approx(900e9));
    CHECK(ceilings.most_threads("cpu") == 2);
    CHECK(ceilings.most_threads("gpu:0") == 0);
}

TEST_CASE("a reported capacity more than twice off is an inconsistency, and changes no level")
{
    Machine liar = machine();
    liar.devices.front().levels[2].capacity = Bytes{384 * MiB};
    const Ceilings ceilings = fit_ceilings(sweep(staircase(three_caches, 30e9)), liar);
    REQUIRE(names(ceilings) == four_levels);
    CHECK(ceilings.levels[2].contradiction);
    CHECK(ceilings.levels[2].to.value == 32 * MiB);
    CHECK_FALSE(ceilings.levels[1].contradiction);
}

TEST_CASE("compute ceilings are the rows, and the best is the peak of its precision")
{
    std::vector<Measurement> rows;
    for (const auto& [operation, flops] : {std::pair{"fma", 100e9}, std::pair{"fma+add", 150e9}}) {
        Measurement made = row(operation, "avx2", 1, 0, 1);
        made.bench = "flops";
        made.role = Role::compute;
        made.point.set("precision", "fp64");
        made.work = {Flops{flops}, {}, {}, Known::analytic};
        made.seconds = {Seconds{1}, Seconds{0.9}, Seconds{1.1}, 9, 0};
        rows.push_back(made);
    }
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(ceilings.all.size() == 2);
    const Ceiling* const roof_of_fp64 = ceilings.compute("cpu", "fp64", 1);
    REQUIRE(roof_of_fp64 != nullptr);
    CHECK(roof_of_fp64->operation == "fma+add");
    CHECK(roof_of_fp64->level == "core");
    CHECK(roof_of_fp64->rate.median.value == Approx(150e9));
    CHECK(roof_of_fp64->unit() == "FLOP/s");
    CHECK(ceilings.compute("cpu", "fp32", 1) == nullptr);
    CHECK(ceilings.levels.empty());
}

TEST_CASE("a point with a path is a ceiling under its own condition, but no level and no peak")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 50e9));
    Measurement link = row("h2d", "cuda", 1, 64 * MiB, 900e9);
    link.point.set("path", "host");
    Measurement launch = link;
    launch.role = Role::latency;
    launch.point.set("path", "launch");
    launch.work.compulsory = Bytes{1000 * bytes_per_access};
    rows.push_back(link);
    rows.push_back(launch);
    const Ceilings ceilings = fit_ceilings(rows, Machine{});
    CHECK(ceilings.levels.size() == 4);
    CHECK(ceilings.bandwidth("cpu", "host", 1) == nullptr);
    const auto of_link = std::ranges::find(ceilings.all, "host", &Ceiling::level);
    REQUIRE(of_link != ceilings.all.end());
    CHECK(of_link->condition == "host");
    CHECK(of_link->rate.median.value == Approx(900e9));
    const auto of_launch = std::ranges::find(ceilings.all, "launch", &Ceiling::level);
    REQUIRE(of_launch != ceilings.all.end());
    CHECK(of_launch->per_access().value == Approx(launch.seconds.median.value / 1000));
}

TEST_CASE("no rows or too few rows give no ceilings and no failure")
{
    CHECK(fit_ceilings({}, machine()).all.empty());
    const std::vector<Measurement> two{row("load", "sse", 1, 8 * KiB, 1e9), row("load", "sse", 1, 16 * KiB, 1e9)};
    CHECK(fit_ceilings(two, machine()).all.empty());
}
