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
    CHECK(found[1] == Approx(6));  // L1 may serve more than a tenth of 256 KiB
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
        if (bytes == 768 * KiB || bytes == 1 * MiB) made = row("load", "avx512", 1, bytes, 245e9);
        rows.push_back(made);
    }
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(names(ceilings) == four_levels);
    CHECK(ceilings.levels[1].to.value >= 768 * KiB);
    CHECK(ceilings.levels[1].to.value <= 1 * MiB);
    CHECK(rate(ceilings, "L2") == Approx(245e9));
}

namespace {

using OfRounds = std::array<double, 3>;

/// A point of so much work a second in three rounds of six samples, each so many times slower, at so many GHz.
void add_rounds(std::vector<Measurement>& rows, Measurement made, const OfRounds& slower,
                const OfRounds& gigahertz = {3, 3, 3})
{
    const Seconds seconds = made.seconds.median;
    for (std::size_t i = 0; i < slower.size(); ++i) {
        made.point.set("round", std::to_string(i + 1));
        made.samples.assign(6, {.seconds = slower[i] * seconds, .clock = Hertz{gigahertz[i] * 1e9}});
        rows.push_back(made);
    }
}

void add_chase(std::vector<Measurement>& rows, double bytes, const OfRounds& slower,
               const OfRounds& gigahertz = {3, 3, 3})
{
    Measurement chase = row("chase", "scalar", 1, bytes, 16e9);
    chase.role = Role::latency;
    add_rounds(rows, chase, slower, gigahertz);
}

void add_arithmetic(std::vector<Measurement>& rows, const OfRounds& slower, const OfRounds& gigahertz)
{
    Measurement fma = row("fma", "avx512", 1, 0, 1e9);
    fma.role = Role::compute;
    fma.point = fma.point.without("working_set");
    fma.work.flops = Flops{1e9};
    add_rounds(rows, fma, slower, gigahertz);
}

Ceiling latency_of(const Ceilings& ceilings, const std::string& level)
{
    const auto found = std::ranges::find_if(
        ceilings.all, [&](const Ceiling& c) { return c.kind == Role::latency && c.level == level; });
    REQUIRE(found != ceilings.all.end());
    return *found;
}

constexpr OfRounds same{1, 1, 1};

}  // namespace

TEST_CASE("a rate that one set alone reached is its level's where it is steady, and a lower bound else")
{
    const auto copies = [](const OfRounds& fastest) {
        std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
        add_rounds(rows, row("copy", "avx512", 1, 768 * KiB, 200e9), fastest);
        add_rounds(rows, row("copy", "avx512", 1, 896 * KiB, 160e9), same);
        add_rounds(rows, row("copy", "avx512", 1, 1 * MiB, 100e9), same);
        const Ceilings ceilings = fit_ceilings(rows, machine());
        const auto found = std::ranges::find_if(
            ceilings.all, [](const Ceiling& c) { return c.level == "L2" && c.operation == "copy"; });
        REQUIRE(found != ceilings.all.end());
        return *found;
    };
    CHECK(copies(same).rate.median.value == Approx(200e9));
    CHECK(copies(same).steadiness == Steadiness::steady);
    // Twelve samples show that the level can do it: a lower bound, however slow the others were.
    CHECK(copies({1, 1, 2}).rate.median.value == Approx(200e9));
    CHECK(copies({1, 1, 2}).steadiness == Steadiness::at_least);
}

TEST_CASE("a smaller set that was faster than usual makes a latency a lower bound, and a larger one does not")
{
    const auto state = [](const OfRounds& smaller, const OfRounds& larger) {
        std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
        add_chase(rows, 256 * KiB, smaller);
        add_chase(rows, 768 * KiB, same);
        add_chase(rows, 1 * MiB, larger);
        return latency_of(fit_ceilings(rows, machine()), "L2").steadiness;
    };
    CHECK(state(same, same) == Steadiness::steady);
    CHECK(state({1, 1.5, 1.5}, same) == Steadiness::at_least);
    CHECK(state(same, {1, 1.5, 1.5}) == Steadiness::steady);
    CHECK(state(same, {0.8, 0.8, 0.8}) == Steadiness::at_least);
}

TEST_CASE("where the clock varied, the sets of a latency are compared per clock")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    const OfRounds slow{1, 1.1, 1.1};
    const OfRounds clocks{3.3, 3, 3};
    add_arithmetic(rows, slow, clocks);
    add_chase(rows, 256 * KiB, slow, clocks);
    add_chase(rows, 768 * KiB, same, {3.3, 3.3, 3.3});
    const Ceiling latency = latency_of(fit_ceilings(rows, machine()), "L2");
    CHECK(latency.steadiness == Steadiness::clock_varied);
    CHECK(latency.per_clock.relative_half_width() < 1e-9);
}

TEST_CASE("where the clock varied, what lacks a clock is a lower bound, however well it agrees")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    add_arithmetic(rows, {1, 1.1, 1.1}, {3.3, 3, 3});
    add_chase(rows, 256 * KiB, same, {3.3, 0, 0});
    const Ceiling latency = latency_of(fit_ceilings(rows, machine()), "L2");
    CHECK(latency.steadiness == Steadiness::at_least);
    CHECK(latency.rate.median.value == Approx(16e9 / bytes_per_access));
}

TEST_CASE("with several threads the edge of the first cache is where the sweep shows it, whatever the machine reports")
{
    // Two threads of one core have one first cache, also where they are reported as cores.
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    const auto more = sweep(staircase({{40 * KiB, 900e9}, {2 * MiB, 400e9}, {32 * MiB, 150e9}}, 50e9), 0, 1, "load", 2);
    rows.insert(rows.end(), more.begin(), more.end());
    Machine made = machine();
    for (const int smt : {1, 2}) {
        made.smt = smt;
        const double edge = fit_ceilings(rows, made).levels[0].edge.value;
        CHECK(edge > 40 * KiB);
        CHECK(edge < 48 * KiB);
    }
}

TEST_CASE("a level reaches to the largest measured set below its edge, in whatever state that was measured")
{
    // 50 KiB met no neighbour, all others met one all the time.
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    for (Measurement& made : rows)
        made.samples.assign(6, {.seconds = made.seconds.median, .disturbance = "a core was shared"});
    Measurement undisturbed = row("load", "avx512", 1, 50 * KiB, 450e9);
    undisturbed.samples.assign(6, {.seconds = undisturbed.seconds.median});
    rows.push_back(undisturbed);
    const Ceilings ceilings = fit_ceilings(rows, machine());
    CHECK(ceilings.levels[0].edge.value > 50 * KiB);
    CHECK(ceilings.levels[0].to == Bytes{50 * KiB});
}
