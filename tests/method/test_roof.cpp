// The roof of a level or a precision, and what is not measured: one rule for every table, picture and program.
#include "tests/method/sweeps.hpp"

using namespace roof;
using namespace roof::tests;

namespace {

Machine with_avx2()
{
    Machine made;
    made.isa = {"scalar", "sse", "avx2"};
    made.features = {"fma"};
    made.devices.push_back({"cpu", "cpu", "made", {}, {}, {}, {}});
    return made;
}

Measurement arithmetic(const std::string& operation, const std::string& isa, int threads, double gigaflops,
                       Status status = Status::ok)
{
    Measurement made;
    made.bench = "flops";
    made.role = Role::compute;
    made.device = "cpu";
    made.point.set("operation", operation);
    made.point.set("isa", isa);
    made.point.set("precision", "fp32");
    made.point.set("threads", std::to_string(threads));
    made.status = status;
    if (status != Status::ok) return made;
    made.work.flops = Flops{gigaflops * 1e9};
    made.seconds = {Seconds{1}, Seconds{0.999}, Seconds{1.001}, 9, 0};
    return made;
}

/// Three rounds that agree: a steady ceiling.
void add_steady(std::vector<Measurement>& rows, const Measurement& made)
{
    for (const char* const round : {"1", "2", "3"}) {
        rows.push_back(made);
        rows.back().point.set("round", round);
        rows.back().samples.assign(6, {.seconds = Seconds{1}});
    }
}

Ceiling roof_of(const std::vector<Measurement>& rows, int threads, const Machine& machine = with_avx2())
{
    const std::optional<Ceiling> roof = fit_ceilings(rows, machine).roof(Role::compute, "cpu", "fp32", threads);
    REQUIRE(roof);
    return *roof;
}

}  // namespace

TEST_CASE("the roof is the fastest multiply-add on any instruction set, and never the best mix")
{
    std::vector<Measurement> rows;
    add_steady(rows, arithmetic("fma", "sse", 1, 50));
    add_steady(rows, arithmetic("fma", "avx2", 1, 100));
    add_steady(rows, arithmetic("mul+add", "avx2", 1, 101));
    add_steady(rows, arithmetic("fma+add", "avx2", 1, 140));
    add_steady(rows, arithmetic("best", "avx2", 1, 150));
    const Ceiling roof = roof_of(rows, 1);
    CHECK(roof.operation == "mul+add");
    CHECK(roof.rate.median.value == Approx(101e9));
    CHECK(roof.steadiness == Steadiness::steady);
    CHECK(roof.stands_in.empty());
    CHECK_FALSE(fit_ceilings(rows, with_avx2()).roof(Role::compute, "cpu", "fp64", 1));
    for (const char* const operation : {"fma", "mul+add", "dot", "tile", "widened", "matmul"})
        CHECK(is_multiply_add(operation));
    for (const char* const operation : {"best", "fma+add", "add", "mul", "tile_fp16_sums"})
        CHECK_FALSE(is_multiply_add(operation));
}

TEST_CASE("a narrower instruction set is a roof where the wider was measured and is slower, else a lower bound")
{
    std::vector<Measurement> rows;
    add_steady(rows, arithmetic("fma", "sse", 1, 50));
    SECTION("the wider is slower")
    {
        add_steady(rows, arithmetic("fma", "avx2", 1, 40));
        CHECK(roof_of(rows, 1).isa == "sse");
        CHECK(roof_of(rows, 1).steadiness == Steadiness::steady);
    }
    SECTION("the wider was left out by the plan")
    {
        CHECK(roof_of(rows, 1).steadiness == Steadiness::at_least);
        CHECK(roof_of(rows, 1).stands_in == "fma avx2 was not measured");
        CHECK(roof_of(rows, 1).rate.median.value == Approx(50e9));
    }
    SECTION("the run was over before it")
    {
        rows.push_back(arithmetic("fma", "avx2", 1, 0, Status::skipped));
        CHECK(roof_of(rows, 1).stands_in == "fma avx2 was not measured");
        add_steady(rows, arithmetic("mul+add", "avx2", 1, 99));
        CHECK(roof_of(rows, 1).operation == "mul+add");
        CHECK(roof_of(rows, 1).stands_in == "fma avx2 was not measured");
    }
    SECTION("the machine lacks it")
    {
        Machine narrow = with_avx2();
        narrow.isa.pop_back();
        rows.push_back(arithmetic("fma", "avx2", 1, 0, Status::skipped));
        CHECK(roof_of(rows, 1, narrow).steadiness == Steadiness::steady);
        CHECK(roof_of(rows, 1, narrow).stands_in.empty());
    }
}

TEST_CASE("what two instructions would do is no reason to doubt one instruction as wide")
{
    std::vector<Measurement> rows;
    add_steady(rows, arithmetic("fma", "avx2", 1, 100));
    rows.push_back(arithmetic("mul+add", "avx2", 1, 0, Status::skipped));
    CHECK(roof_of(rows, 1).stands_in.empty());
}

TEST_CASE("more threads never have a lower roof than fewer")
{
    std::vector<Measurement> rows;
    add_steady(rows, arithmetic("fma", "avx2", 1, 100));
    CHECK(roof_of(rows, 2).rate.median.value == Approx(100e9));
    CHECK(roof_of(rows, 2).steadiness == Steadiness::at_least);
    CHECK(roof_of(rows, 2).stands_in == "it was not measured with 2 threads");
    rows.push_back(arithmetic("fma", "avx2", 2, 7));  // one row without samples: a lower bound
    CHECK(roof_of(rows, 2).rate.median.value == Approx(100e9));
    CHECK(roof_of(rows, 2).threads == 1);
    CHECK(roof_of(rows, 2).steadiness == Steadiness::at_least);
    rows.pop_back();
    add_steady(rows, arithmetic("fma", "avx2", 2, 200));
    CHECK(roof_of(rows, 2).rate.median.value == Approx(200e9));
    CHECK(roof_of(rows, 2).stands_in.empty());
    CHECK(roof_of(rows, 1).rate.median.value == Approx(100e9));
}

TEST_CASE(
    "a level is refused where a farther one is faster: interference hid the lower bound, or a nearer level served")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    const auto refused = [&rows](double l3, double memory, bool is_steady) {
        std::vector<Measurement> all = rows;
        for (const auto& [bytes, rate] : {std::pair{16 * MiB, l3}, std::pair{512 * MiB, memory}}) {
            Measurement copy = row("copy", "avx2", 1, bytes, rate);
            const int rounds = is_steady || rate == memory ? 3 : 1;
            for (int i = 1; i <= rounds; ++i) {
                copy.point.set("round", std::to_string(i));
                copy.samples.assign(6, {.seconds = copy.seconds.median});
                all.push_back(copy);
            }
        }
        return fit_ceilings(all, machine()).refused;
    };
    CHECK(refused(50e9, 25e9, true).empty());
    REQUIRE(refused(20e9, 25e9, false).size() == 1);
    CHECK(refused(20e9, 25e9, false)[0].level == "L3");
    CHECK(refused(20e9, 25e9, false)[0].stands_in == "DRAM was faster");
    REQUIRE(refused(20e9, 25e9, true).size() == 1);
    CHECK(refused(20e9, 25e9, true)[0].level == "DRAM");
    CHECK(refused(20e9, 25e9, true)[0].stands_in == "L3 was slower");
}

TEST_CASE("sets that a reported cache may hold are not memory")
{
    // Of 8 KiB to 32 MiB, as where a run was over before the larger sets.
    std::vector<Measurement> rows;
    for (const Measurement& made : sweep(staircase({{48 * KiB, 450e9}, {1 * MiB, 200e9}}, 100e9)))
        if (made.point.number("working_set") <= 32 * MiB) rows.push_back(made);
    CHECK(names(fit_ceilings(rows, machine())) == std::vector<std::string>{"L1", "L2", "L3"});
    Machine silent = machine();
    silent.devices.front().levels.clear();
    CHECK(names(fit_ceilings(rows, silent)) == std::vector<std::string>{"L1", "L2", "DRAM"});
}

TEST_CASE("a machine that reports three caches has no fourth")
{
    const auto shape = staircase({{48 * KiB, 450e9}, {1 * MiB, 200e9}, {8 * MiB, 100e9}, {64 * MiB, 60e9}}, 30e9);
    CHECK(names(fit_ceilings(sweep(shape), machine())).size() == 4);
    Machine two = machine();
    two.devices.front().levels.erase(two.devices.front().levels.begin() + 2);
    CHECK(names(fit_ceilings(sweep(shape), two)).size() == 5);
}

TEST_CASE("with too few sets the levels of several threads are those of one, and what has no set is not measured")
{
    std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    for (const auto& [bytes, rate] : {std::pair{16 * KiB, 900e9}, {512 * KiB, 400e9}, {16 * MiB, 180e9}})
        rows.push_back(row("load", "avx512", 2, bytes, rate));
    std::vector<std::string> found;
    for (const MeasuredLevel& level : fit_ceilings(rows, machine()).levels_by_threads)
        if (level.threads == 2) found.push_back(level.name);
    CHECK(found == std::vector<std::string>{"L1", "L2", "L3"});
}

TEST_CASE("a level is shown by sets of which the nearer one may serve less than a tenth, else by the largest, marked")
{
    const std::vector<Measurement> rows = sweep(staircase(three_caches, 30e9));
    const Ceilings ceilings = fit_ceilings(rows, machine());
    REQUIRE(names(ceilings) == four_levels);
    // L1 ends at 48 KiB: from 480 KiB on it may hold less than a tenth. L2 at 1 MiB, L3 at 32 MiB: from 10 and 320 MiB
    // on.
    CHECK(ceilings.levels[1].from.value >= 480 * KiB);
    CHECK(ceilings.levels[2].from.value >= 10 * MiB);
    CHECK(ceilings.levels[3].from.value >= 320 * MiB);
    for (const Ceiling& ceiling : ceilings.all) CHECK(ceiling.nearer_share <= 0.11);
    const Ceilings narrow =
        fit_ceilings(sweep(staircase({{48 * KiB, 450e9}, {256 * KiB, 200e9}, {32 * MiB, 100e9}}, 30e9)), machine());
    REQUIRE(names(narrow) == four_levels);
    const Ceiling* const l2 = narrow.bandwidth("cpu", "L2", 1);
    REQUIRE(l2 != nullptr);
    CHECK(l2->nearer_share > 0.1);
    CHECK(l2->nearer_share == Approx(narrow.levels[0].edge / l2->working_set));
}
