// The loop shared by calibrate, run and sweep: exit statuses, interrupts, continuation.
#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/measure.hpp"
#include "ert/method/results/results.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>

using namespace roof;
using tests::Said;
using tests::Workbench;

namespace {

std::string three_batches(const Workbench& bench)
{
    std::ofstream(bench.folder / "plan.yaml") << "measure: {warmup: 1, min_samples: 5, max_samples: 5}\n"
                                                 "run:\n  - bench: train\n    model: tinynet\n    batch: [2, 4, 8]\n";
    return bench.path("plan.yaml");
}

}  // namespace

TEST_CASE("a row that failed makes the status 1, and the rows after it are still measured")
{
    const Workbench bench;
    const Said said = bench.roof({"run", "tinynet", "--batch", "13,4", "--out", bench.path("run")});
    CHECK(said.status == 1);
    CHECK_THAT(said.out, Catch::Contains("failed: the loss is not finite"));
    CHECK(read_results(bench.folder / "run").rows.size() == 2);
}

TEST_CASE("out_of_memory leaves the status 0, unsupported rows beside others too, and none but them are status 2")
{
    const Workbench bench;
    const Said said = bench.roof({"run", "tinynet", "--batch", "4096"});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Catch::Contains("out_of_memory"));

    std::ofstream(bench.folder / "wide.yaml") << "run:\n  - bench: flops\n    isa: avx512\n";
    CHECK(bench.roof({"sweep", bench.path("wide.yaml")}).status == 2);
    std::ofstream(bench.folder / "both.yaml") << "run:\n  - bench: flops\n    isa: [avx2, avx512]\n";
    CHECK(bench.roof({"sweep", bench.path("both.yaml")}).status == 0);
}

TEST_CASE("a run on a device that the machine lacks is refused and leaves no folder")
{
    const Workbench bench;
    const Said said = bench.roof({"run", "tinynet", "--batch", "4,8", "--device", "gpu:0"});
    CHECK(said.status == 2);
    CHECK_THAT(said.err,
               Catch::StartsWith("roof: nothing can be measured on gpu:0: this build cannot run bench 'train'"));
    CHECK(std::count(said.err.begin(), said.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(bench.folder / "results"));
}

TEST_CASE("an interrupted sweep keeps its complete rows and prints how to continue")
{
    Workbench bench;
    const std::string plan = three_batches(bench);
    // The check runs before each item and after each of its six launches, so this interrupts the second item.
    bench.interrupted = tests::interrupt_at(10);
    const std::vector<std::string> words{"sweep", plan, "--out", bench.path("run")};
    const Said said = bench.roof(words);
    CHECK(said.status == 130);
    CHECK(said.out.empty());
    CHECK_THAT(said.err, Catch::Contains("1 of 3 rows is complete in " + bench.path("run")));
    CHECK_THAT(said.err, Catch::Contains("to continue: roof sweep " + plan + " --out " + bench.path("run")));
    REQUIRE(read_results(bench.folder / "run").rows.size() == 1);
    const std::string first_started = read_results(bench.folder / "run").rows.front().id();

    bench.interrupted = [] { return false; };
    const Said again = bench.roof(words);
    CHECK(again.status == 0);
    CHECK(std::count(again.err.begin(), again.err.end(), '\n') == 2);
    const Results results = read_results(bench.folder / "run");
    REQUIRE(results.rows.size() == 3);
    CHECK(results.rows.front().id() == first_started);
}

TEST_CASE("an interrupt before the first row leaves a folder that can be continued")
{
    Workbench bench;
    bench.interrupted = [] { return true; };
    const std::vector<std::string> words{"run", "tinynet", "--batch", "4", "--out", bench.path("run")};
    const Said said = bench.roof(words);
    CHECK(said.status == 130);
    CHECK_THAT(said.err, Catch::StartsWith("interrupted: 0 of 1 rows"));
    bench.interrupted = [] { return false; };
    CHECK(bench.roof(words).status == 0);
}

TEST_CASE("calibrating a GPU that the machine lacks gives rows with the reason")
{
    const Workbench bench;
    const Said said = bench.roof({"calibrate", "--device", "gpu:0", "--out", bench.path("gpu")});
    CHECK(said.status == 2);
    CHECK_THAT(said.err, Catch::Contains("nothing could be measured on gpu:0: this build cannot run bench"));
    for (const Measurement& row : read_results(bench.folder / "gpu").rows) CHECK(row.status == Status::unsupported);
    CHECK(bench.roof({"calibrate", "--device", "tpu"}).status == 2);
}

TEST_CASE("an interrupted sweep without --out continues in its folder")
{
    Workbench bench;
    const std::string plan = three_batches(bench);
    bench.interrupted = tests::interrupt_at(10);
    CHECK(bench.roof({"sweep", plan}).status == 130);
    bench.interrupted = [] { return false; };
    CHECK(bench.roof({"sweep", plan}).status == 0);
    const auto home = std::filesystem::directory_iterator(bench.folder / "results" / "fake-2cpu");
    CHECK(std::distance(begin(home), end(home)) == 1);
}

TEST_CASE("a complete sweep measures nothing and shows its rows again")
{
    const Workbench bench;
    const std::vector<std::string> words{"sweep", three_batches(bench), "--out", bench.path("run")};
    const Said first = bench.roof(words);
    const Said second = bench.roof(words);
    CHECK(second.status == 0);
    CHECK(second.err.empty());
    CHECK(second.out == first.out);
}

TEST_CASE("a run of --steps N makes exactly N steps and reports every loss")
{
    const Workbench bench;
    const auto losses_of = [&](const std::string& steps) {
        const Said said = bench.roof({"run", "tinynet", "--batch", "4", "--steps", steps, "--out", bench.path(steps)});
        REQUIRE(said.status == 0);
        return read_results(bench.folder / steps).rows.front();
    };
    CHECK(losses_of("10").losses() == std::vector<double>{7, 6, 5, 4, 3, 2, 1, 0, -1, -2});
    CHECK(losses_of("10").seconds.n == 9);
    CHECK(losses_of("1").losses() == std::vector<double>{7});
    CHECK(losses_of("1").seconds.n == 1);
}

TEST_CASE("a short step is measured by several processes, each with its share, and a long one by this process alone")
{
    const Workbench bench;
    const BenchRegistry registry = tests::registry_without_gpu(bench.clock);
    const auto run = [&](const std::string& batch, const std::vector<std::string>& more = {}) {
        std::ostringstream out;
        std::ostringstream err;
        std::vector<std::string> words{"run", "tinynet", "--batch", batch, "--out", bench.path(batch)};
        words.insert(words.end(), more.begin(), more.end());
        const auto anew = [&](const Item& item) {
            Item own = item;
            own.stopping = of_one_process(own.stopping);
            return [&registry, &bench, own] { return std::optional(measure(own, registry, bench.clock.clock())); };
        };
        CHECK(run_command_line(words, {.out = out,
                                       .err = err,
                                       .assemble = [&bench] { return tests::registry_without_gpu(bench.clock); },
                                       .clock = bench.clock.clock(),
                                       .interrupted = [] { return false; },
                                       .results = bench.folder / "results",
                                       .measured_anew = anew}) == 0);
        return std::pair(out.str(), read_results(bench.folder / batch).rows.at(0));
    };
    const auto [text, row] = run("4");  // 40 ms a step: 33 steps of 1.3 s each in six processes
    CHECK_THAT(text, Catch::Contains("  198 ") && Catch::Contains("measured by 6 processes, one after another"));
    CHECK(processes_of(row) == 6);
    CHECK(row.seconds.n == 198);
    CHECK(row.losses().size() == 2 + 33);          // of the first process
    const auto [long_text, long_row] = run("32");  // 320 ms, of which six do not fit into a sixth of ten seconds
    CHECK_THAT(long_text, Catch::Contains("  32 ") && !Catch::Contains("processes"));
    CHECK(processes_of(long_row) == 1);
    // Steps without spread are known at the first look; of 24 processes each has room for 8 steps.
    const Measurement known = run("2", {"--max-noise", "0.01"}).second;
    CHECK(processes_of(known) == 6);
    CHECK(known.seconds.n == 6 * 8);
}

TEST_CASE("settings on the command line change the plan")
{
    const Workbench bench;
    const std::string plan = three_batches(bench);
    REQUIRE(bench.roof({"sweep", plan, "--set", "batch=16", "--out", bench.path("run")}).status == 0);
    const Results results = read_results(bench.folder / "run");
    REQUIRE(results.rows.size() == 1);
    CHECK(results.rows.front().point.text("batch") == "16");
    CHECK_THAT(results.plan, Catch::Contains("--set batch=16"));
    CHECK(bench.roof({"sweep", plan, "--out", bench.path("run")}).status == 2);
}
