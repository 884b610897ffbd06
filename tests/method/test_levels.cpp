// Levels, and ceilings of unusual conditions, from synthetic sweeps.
#include "tests/method/sweeps.hpp"

using namespace roof;
using namespace roof::tests;

TEST_CASE("other conditions have their own ceilings outside the roofline")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    Measurement small = row("load", "avx512", 1, 512 * KiB, 900e9);
    small.point.set("pages", "small");
    rows.push_back(small);
    Measurement remote = row("load", "avx512", 1, 256 * MiB, 900e9);
    remote.point.set("cpu_node", "0");
    remote.point.set("memory_node", "1");
    rows.push_back(remote);
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(names(ceilings) == four_levels);
    CHECK(rate(ceilings, "L2") == Approx(200e9));
    CHECK(rate(ceilings, "DRAM") == Approx(30e9));
    std::vector<std::string> conditions;
    for (const Ceiling& ceiling : ceilings.all) {
        if (!ceiling.condition.empty()) conditions.push_back(ceiling.level + ": " + ceiling.condition);
    }
    CHECK(conditions == std::vector<std::string>{"L2: small pages", "DRAM: node 0 from node 1"});
}

TEST_CASE("a level that grows with the cores is per core, and one that does not is shared")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    const auto more = sweep(staircase({{96 * KiB, 900e9}, {2 * MiB, 400e9}, {32 * MiB, 150e9}}, 50e9), 0, 1, "load", 2);
    rows.insert(rows.end(), more.begin(), more.end());
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(ceilings.levels_by_threads.size() == 8);
    REQUIRE(ceilings.levels.size() == 4);
    CHECK(ceilings.levels[0].sharing == Sharing::per_core);
    CHECK(ceilings.levels[1].sharing == Sharing::per_core);
    CHECK(ceilings.levels[2].sharing == Sharing::shared);
    CHECK(ceilings.levels[3].sharing == Sharing::unclear);
    CHECK(ceilings.levels[0].beyond.value > ceilings.levels[0].to.value);
    CHECK(ceilings.levels[3].beyond.value == 0);
}

TEST_CASE("sharing is unclear if the machine reports the opposite")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    // Neighbours occupied half of the second core's L2, while all of the last cache was free again.
    const auto more = sweep(staircase({{96 * KiB, 900e9}, {1 * MiB, 400e9}, {64 * MiB, 150e9}}, 50e9), 0, 1, "load", 2);
    rows.insert(rows.end(), more.begin(), more.end());
    const Ceilings ceilings = fit_ceilings(rows, machine());
    CHECK(ceilings.levels[0].sharing == Sharing::per_core);
    CHECK(ceilings.levels[1].sharing == Sharing::unclear);
    CHECK(ceilings.levels[2].sharing == Sharing::unclear);

    Machine silent = machine();
    for (MemoryLevel& level : silent.devices.front().levels) level.shared_by = 0;
    const Ceilings alone = fit_ceilings(rows, silent);
    CHECK(alone.levels[1].sharing == Sharing::shared);
    CHECK(alone.levels[2].sharing == Sharing::per_core);
}

TEST_CASE("sets are compared in one state of the core")
{
    // While the core is shared a load takes 1.6 times as long. Every third set met three moments in which it was not.
    const auto shared_core = [](bool has_moments) {
        std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Seconds alone = rows[i].seconds.median;
            for (int k = 0; k < 9; ++k) {
                const bool is_alone = has_moments && i % 6 < 2 && k < 3;
                Sample& sample = rows[i].samples.emplace_back();
                sample.seconds = is_alone ? alone : 1.6 * alone;
                if (!is_alone) sample.disturbance = "a core was shared";
            }
        }
        return fit_ceilings(rows, machine());
    };
    for (const bool has_moments : {false, true}) {
        const Ceilings ceilings = shared_core(has_moments);
        CHECK(names(ceilings) == four_levels);
        CHECK(ceilings.levels[0].to == Bytes{48 * KiB});
        CHECK(ceilings.levels[1].to == Bytes{1 * MiB});
        CHECK(ceilings.levels[2].to == Bytes{32 * MiB});
    }
}

TEST_CASE("a latency is taken in the middle of its level, as time per access")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    for (const auto& [bytes, nanoseconds] : {std::pair{16 * KiB, 1.0},
                                             {64 * KiB, 2.0},
                                             {256 * KiB, 4.0},
                                             {1 * MiB, 6.0},
                                             {8 * MiB, 12.0},
                                             {256 * MiB, 100.0}}) {
        Measurement chase = row("chase", "scalar", 1, bytes, 64e9 / nanoseconds);
        chase.bench = "latency";
        chase.role = Role::latency;
        rows.push_back(chase);
    }
    const Ceilings ceilings = fit_ceilings(rows, machine());
    std::vector<double> found;
    for (const Ceiling& ceiling : ceilings.all) {
        if (ceiling.kind == Role::latency) found.push_back(ceiling.per_access().value * 1e9);
    }
    REQUIRE(found.size() == 4);
    CHECK(found[0] == Approx(1));
    CHECK(found[1] == Approx(4));
    CHECK(found[2] == Approx(12));
    CHECK(found[3] == Approx(100));
}

TEST_CASE("points with an intensity are no ceilings")
{
    Measurement point = row("fma", "avx512", 1, 16 * KiB, 1e9);
    point.role = Role::compute;
    point.point.set("intensity", "1/8");
    point.work.flops = Flops{1e9};
    CHECK(fit_ceilings(std::vector{point}, machine()).all.empty());
}

TEST_CASE("a level that is fastest just before its end is one level up to there")
{
    std::vector<Measurement> rows;
    for (Measurement& made : sweep(staircase({{48 * KiB, 500e9}, {1 * MiB, 180e9}, {32 * MiB, 110e9}}, 35e9))) {
        const double bytes = made.point.number("working_set");
        if (bytes == 512 * KiB || bytes == 768 * KiB) made = row("load", "avx512", 1, bytes, 245e9);
        rows.push_back(made);
    }
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(names(ceilings) == four_levels);
    CHECK(ceilings.levels[1].to.value >= 768 * KiB);
    CHECK(ceilings.levels[1].to.value <= 1 * MiB);
    CHECK(rate(ceilings, "L2") == Approx(245e9));
}
