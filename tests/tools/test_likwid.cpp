// likwid-bench as a peer: its command lines, its output, and the turns of both sides.
#include "tests/tools/workbench.hpp"
#include "tools/roof/programs/likwid.hpp"

#include "ert/base/error.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

using namespace roof;

namespace {

const std::string load_output =
    "Warning: Sanitizing vector length\nTest: load_avx\nCycles:\t\t\t17703010\nMFlops/s:\t\t0.00\n"
    "Data volume (Byte):\t2380800000\nMByte/s:\t\t349132.11\n";
const std::string peak_output =
    "Test: peakflops_avx_fma\nMFlops/s:\t\t25000.00\nMByte/s:\t\t100.00\nCycles per update:\t0.5\n";
const std::string listing =
    "load_avx - Double-precision load, optimized for AVX\nload_sse - Double-precision load\n"
    "load_avx512 - Double-precision load\ncopy_mem_avx - Double-precision vector copy\n"
    "copy_avx - Double-precision vector copy\npeakflops_avx_fma - Double-precision multiplications\n\nUser "
    "benchmarks:\n";

Ceilings two_levels()
{
    Ceilings ceilings;
    ceilings.levels_by_threads = {{"cpu", "L1", {8192}, {32768}, {}, {}, false, 1},
                                  {"cpu", "DRAM", {1e8}, {268435456}, {}, {}, false, 1}};
    return ceilings;
}

std::string ids_of(const std::vector<LikwidPoint>& points)
{
    std::string text;
    for (const LikwidPoint& point : points)
        text += point.level + " " + point.operation + " " + point.test + " " +
                std::to_string(static_cast<long long>(point.working_set.value)) + "\n";
    return text;
}

}  // namespace

TEST_CASE("likwid's rates are in bytes, those of peakflops in FLOPs")
{
    CHECK(*parse_likwid(load_output) == Approx(349132.11e6));
    CHECK(*parse_likwid(peak_output) == Approx(25e9));
    CHECK_FALSE(parse_likwid("ERROR: no such test\n"));
    CHECK_FALSE(parse_likwid(""));
}

TEST_CASE("likwid's tests are parsed from its list")
{
    const auto tests = parse_likwid_tests(listing);
    CHECK(tests.size() == 6);
    CHECK(tests.contains("peakflops_avx_fma"));
}

TEST_CASE("a test has our working set or the level's middle, the widest ISA, and streaming stores in memory only")
{
    Machine machine = fakes::fake_machine();
    machine.isa = {"scalar", "sse", "avx2"};
    CHECK(ids_of(likwid_points(two_levels(), machine, parse_likwid_tests(listing))) ==
          "L1 load load_avx 16384\nL1 copy copy_avx 16384\nDRAM load load_avx 268435456\nDRAM copy copy_avx 268435456\n"
          "DRAM copy_nt copy_mem_avx 268435456\ncore fma peakflops_avx_fma 16384\n");
    Ceilings held = two_levels();
    Ceiling load;
    load.device = "cpu";
    load.level = "L1";
    load.operation = "load";
    load.working_set = Bytes{24576};
    held.all = {load};
    CHECK_THAT(ids_of(likwid_points(held, machine, parse_likwid_tests(listing))),
               Catch::StartsWith("L1 load load_avx 24576\nL1 copy copy_avx 16384\n"));
    machine.isa = {"scalar", "sse", "avx2", "avx512"};
    CHECK(likwid_points(two_levels(), machine, parse_likwid_tests(listing)).front().test == "load_avx512");
}

TEST_CASE("likwid's command has test, size in thousands of bytes, and threads")
{
    const LikwidPoint point{"L1", "load", "", 2, Bytes{65536}, "load_avx"};
    CHECK(likwid_command(point) ==
          std::vector<std::string>{"likwid-bench", "-t", "load_avx", "-W", "N:66kB:2", "-s", "1"});
    LikwidPoint counted = point;
    counted.iterations = 12;
    CHECK(likwid_command(counted).back() == "12");
}

TEST_CASE("both programs run in turns, and a ratio is taken within a round")
{
    const fakes::ManualClock hand;
    const BenchRegistry registry = fakes::fake_registry(hand);
    const Clock clock = hand.clock();
    std::ostringstream out;
    std::ostringstream err;
    Context context{registry, clock, out, err, Terminal{}};
    std::vector<std::string> asked;
    const RunProgram likwid = [&](const std::vector<std::string>& words) {
        if (words[1] == "-a") return listing;
        asked.push_back(words[2]);
        if (words[2] == "copy_mem_avx") throw Error("it failed");
        return words[2].starts_with("peak") ? peak_output : load_output;
    };
    const auto comparisons = compare_with_likwid(two_levels(), context, likwid);
    REQUIRE(comparisons.size() == 5);  // load and copy on both levels, and fma; the fake registry has no copy_nt
    CHECK(asked.size() == 3 * 5);
    CHECK(asked[0] == asked[5]);
    CHECK(comparisons[0].ours.size() == 3);
    CHECK(comparisons[0].ours[0] == Approx(400e9));
    CHECK_THAT(err.str(), Catch::Contains("5 points in 3 rounds"));
    CHECK_THAT(to_text(comparisons), Catch::Contains("1.146") && Catch::Contains("[1.146, 1.146]"));
    const auto json = to_json(comparisons);
    CHECK(json.at(4).at("precision") == "fp64");
    CHECK(json.at(4).at("ratio_median").get<double>() == Approx(2.0));
    CHECK(json.at(0).at("unit") == "B/s");
}

TEST_CASE("a program's output is read, and its failure is an error")
{
    CHECK(run_program({"printf", "%s %s", "a b", "c"}) == "a b c");
    CHECK_THROWS_AS(run_program({"false"}), Error);
    CHECK_THROWS_AS(run_program({"/nowhere/likwid-bench"}), Error);
}

TEST_CASE("a missing likwid is reported with its remedy before anything is measured")
{
    const std::string path = std::getenv("PATH");
    setenv("PATH", "/nowhere", 1);
    const tests::Workbench bench;
    const auto said = bench.roof({"calibrate", "--compare", "likwid"});
    setenv("PATH", path.c_str(), 1);
    CHECK(said.status == 2);
    CHECK_THAT(said.err, Catch::Contains("install likwid"));
    CHECK_FALSE(std::filesystem::exists(bench.folder / "results"));
    CHECK_THAT(bench.roof({"calibrate", "--compare", "likwit"}).err, Catch::Contains("did you mean 'likwid'?"));
}
