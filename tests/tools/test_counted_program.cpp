// Programs on a CPU: what is counted by a stand-in for the kernel's counters.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/skip.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/programs/counted_program.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::tests;

namespace {

/// Stands in for the kernel: counts what is given while a launch runs.
struct StandIn {
    int traced = 0;
    bool refuses = false;

    Profiler profiler()
    {
        const auto attach = [this](const Device&) -> Profile {
            if (refuses) throw Unsupported("perf_event_open: Permission denied");
            const auto write = [](const std::filesystem::path& folder, const std::string& id) {
                const auto record = [](const char* metric, double value, const char* unit) -> CounterRecord {
                    return {"cpu", CounterScope::step, {}, {}, {}, {}, metric, value, unit};
                };
                const std::vector<CounterRecord> records{
                    record("icx::L1D:REPLACEMENT", 900, "event"), record("FLOPs of fp32", 4000, "FLOP"),
                    record("FLOPs of fp64", 500, "FLOP"), record("lines into L1", 57600, "byte"),
                    record("lines from memory", 6400, "byte")};
                append_records<CounterRecord>(folder, id, records);
            };
            return {{},
                    [this](const Launch& launch) { launch(), ++traced; },
                    [](const Launch&) { return std::vector<std::string>{"they took turns"}; },
                    write};
        };
        return {"cpu", {}, attach};
    }
};

CountedProgram counted(StandIn& kernel, const fakes::ManualClock& clock, const std::filesystem::path& folder)
{
    BenchRegistry registry = registry_without_gpu(clock);
    registry.add(kernel.profiler());
    return count_program(registry, folder, "solver", clock.clock(), [&](std::string&) {
        clock.advance(2);
        return 3;
    });
}

}  // namespace

TEST_CASE("a program's output is read, and its failure is an error")
{
    CHECK(run_program({"printf", "%s %s", "a b", "c"}) == "a b c");
    CHECK_THROWS_AS(run_program({"false"}), Error);
    CHECK_THROWS_AS(run_program({"/nowhere/program"}), Error);
}

TEST_CASE("a program's FLOPs and bytes from memory are the counted ones, and its time the wall's")
{
    StandIn kernel;
    const fakes::ManualClock clock;
    const fakes::TemporaryFolder folder;
    const CountedProgram done = counted(kernel, clock, folder / "");
    CHECK(kernel.traced == 1);
    CHECK(done.status == 3);
    CHECK(done.row.seconds.median.value == Approx(2));
    CHECK(done.row.work.flops.value == 4500);
    CHECK(done.row.work.compulsory.value == 6400);
    CHECK(done.row.work.known == Known::counter);
    CHECK(done.row.point.text("model") == "solver");
    CHECK(done.row.remarks == "they took turns");
}

TEST_CASE("where nothing can be counted a program keeps its time, with the reason")
{
    StandIn kernel;
    kernel.refuses = true;
    const fakes::ManualClock clock;
    const fakes::TemporaryFolder folder;
    const CountedProgram done = counted(kernel, clock, folder / "");
    CHECK(done.row.seconds.median.value == Approx(2));
    CHECK(done.row.work.flops.value == 0);
    CHECK(done.row.remarks == "not counted: perf_event_open: Permission denied");
}

TEST_CASE("profile without a GPU runs the program, writes its row and returns its status")
{
    const Workbench bench;
    const Said said = bench.roof({"profile", "--out", bench.path("run"), "--", "sh", "-c", "exit 5"});
    CHECK(said.status == 5);
    CHECK_THAT(said.err, Catch::Contains("sh on cpu") &&
                             (Catch::Contains("not simulated: ") || Catch::Contains("not counted: ")));
    CHECK_THAT(read_file(bench.path("run/measurements.csv")), Catch::Contains("program cpu model=sh"));
    CHECK(bench.roof({"profile", "--out", bench.path("none"), "--", "no-such-program"}).status == 127);
    const std::string long_script = "exit 4;" + std::string(5000, ' ');
    CHECK(bench.roof({"profile", "--out", bench.path("long"), "--", "sh", "-c", long_script}).status == 4);
    const Said wrong = bench.roof({"profile", "--simulate", "--range", "step", "--", "true"});
    CHECK_THAT(wrong.err, Catch::Contains("are for programs on a GPU"));
}
