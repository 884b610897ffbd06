// Calibration by the built-in plans, on synthetic probes that accept all axes of those plans.
#include "ert/method/results/results.hpp"
#include "tests/tools/probing.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace roof;
using nlohmann::json;
using tests::calibrate;
using tests::calibrate_on;
using tests::compute_script;
using tests::probing_registry;
using tests::roof_on;
using tests::words;
using tests::Workbench;

TEST_CASE("calibrate --json prints one document of ceilings with units on standard output")
{
    const auto said = calibrate({"--quick", "--json"});
    INFO(said.err);
    REQUIRE(said.status == 0);
    const json ceilings = json::parse(said.out).at("ceilings");
    const auto is_roof = [](const json& c) {
        return c.at("kind") == "compute" && c.at("threads") == 2 && c.at("precision") == "fp32" &&
               c.at("unit") == "FLOP/s" && c.at("median").get<double>() == Approx(100e9);
    };
    CHECK(std::any_of(ceilings.begin(), ceilings.end(), is_roof));
    CHECK(std::any_of(ceilings.begin(), ceilings.end(), [](const json& c) { return c.at("kind") == "bandwidth"; }));
}

TEST_CASE("calibrate --threads measures with only that many threads")
{
    const auto said = calibrate({"--quick", "--json", "--threads", "1"});
    REQUIRE(said.status == 0);
    const json shown = json::parse(said.out);
    for (const json& ceiling : shown.at("ceilings")) CHECK(ceiling.at("threads") == 1);
}

TEST_CASE("the last line of calibrate is its results folder")
{
    const auto said = calibrate({});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Catch::Contains("results/fake-2cpu/"));
    CHECK_THAT(said.err, Catch::Contains("] ok flops cpu operation="));
}

TEST_CASE("a second calibration reports the ceilings that changed beyond their intervals")
{
    const Workbench bench;
    CHECK_THAT(calibrate({"--quick"}, bench).out, Catch::Contains("drift: this machine has no earlier calibration"));
    CHECK_THAT(calibrate({"--quick"}, bench).out, Catch::Contains("moved beyond its interval"));
    const auto said = calibrate({"--quick", "--json"}, bench, 1.5);
    const json drift = json::parse(said.out).at("drift");
    CHECK(drift.at("compared").get<int>() > 4);
    CHECK(drift.at("moved").size() == drift.at("compared"));
    CHECK(drift.at("moved").at(0).at("verdict") == "b is slower");
}

TEST_CASE("calibrate takes a plan of one's own, by its file or its name")
{
    const Workbench bench;
    REQUIRE(calibrate({"--quick"}, bench).status == 0);
    const auto by_name = calibrate({"--plan", "calibrate/cpu-quick"}, bench);
    CHECK_THAT(by_name.out, Catch::Contains("moved beyond its interval"));  // the same plan as --quick
    const std::filesystem::path file = bench.folder / "one.yaml";
    std::ofstream(file) << "name: one\nrun:\n  - {bench: flops, operation: fma, precision: fp32}\n";
    const auto said = calibrate({"--plan", file.string(), "--json"}, bench);
    REQUIRE(said.status == 0);
    const json shown = json::parse(said.out);
    for (const json& ceiling : shown.at("ceilings")) CHECK(ceiling.at("kind") == "compute");
    CHECK_THAT(calibrate({"--quick", "--plan", "calibrate/cpu"}, bench).err, Catch::Contains("give one of them"));
}

TEST_CASE("drift is not computed from a calibration by another plan")
{
    const Workbench bench;
    REQUIRE(calibrate({"--quick", "--threads", "1"}, bench).status == 0);
    CHECK(json::parse(calibrate({"--quick", "--json"}, bench).out).at("drift").is_null());
}

TEST_CASE("a ceiling above the spec of the core is marked, and decides nothing")
{
    // The fake probe does 25 FLOPs per clock and core.
    const auto [spec, is_above] = GENERATE(table<double, bool>({{25, false}, {24, true}}));
    const Workbench bench;
    const auto registry = [&, per_clock = spec] {
        BenchRegistry made = probing_registry(bench.clock, 1);
        made.machine().devices[0].spec_rates = {{"compute", "core", "fma", "", "fp32", per_clock, "Guide"}};
        return made;
    };
    const auto said = calibrate_on(bench, {"--quick"}, registry);
    CHECK(said.status == 0);
    CHECK((said.out.find("104.2%*") != std::string::npos) == is_above);
    const auto again = calibrate_on(bench, {"--quick", "--json"}, registry);
    CHECK(again.status == 0);
    const json document = json::parse(again.out);
    CHECK(document.at("above_spec").empty() == !is_above);
    // Two calibrations in the same minute are one time (docs/method.md, Looks).
    const std::size_t all = document.at("ceilings").size();
    CHECK(document.at("quality") == fmt::format("{0} of {0} ceilings were seen once. Seen once: a calibration ten "
                                                "minutes later, or a run, shows what is steady.",
                                                all));
}

TEST_CASE("unsteady rows are measured again until the time of the plan is over")
{
    const auto rows_with = [](const std::string& limit) {
        const Workbench bench;
        std::ofstream(bench.folder / "plan.yaml")
            << "measure: {warmup: 0, min_samples: 6, max_samples: 6}\nrounds: 2\nmax_rounds: 9\n"
            << limit << "run:\n  - {bench: flops, threads: [1, 2]}\n";
        int round = 0;
        const auto registry = [&] {
            BenchRegistry changing;
            changing.machine() = fakes::fake_machine();
            changing.add(std::make_unique<fakes::FakeBench>(
                "flops", Role::compute, std::vector<Axis>{{"threads", "threads", {"1"}, {}, true, 1, 2}},
                [&round](const Point& point) {
                    fakes::FakeSubject::Script script = compute_script(point);
                    script.rest_seconds *= 1 + 0.1 * (++round % 7);
                    return script;
                },
                bench.clock));
            return changing;
        };
        REQUIRE(roof_on(bench, {"sweep", bench.path("plan.yaml"), "--out", bench.path("run")}, registry).status == 0);
        return read_results(bench.folder / "run").rows.size();
    };
    const std::size_t all = rows_with("");
    const std::size_t some = rows_with("extra_rounds_until_seconds: 0.03\n");
    CHECK(all > 6);
    CHECK(some >= 4);
    CHECK(some < all);
}

namespace {

/// "id status seconds" of each row, sorted.
std::vector<std::string> rows_in(const std::filesystem::path& folder)
{
    const Results results = read_results(folder);
    CHECK(results.damage.empty());
    std::vector<std::string> lines;
    for (const Measurement& row : results.rows)
        lines.push_back(fmt::format("{} {} {:.6g}", row.id(), name(row.status), row.seconds.median.value));
    std::ranges::sort(lines);
    return lines;
}

std::size_t count_of(const std::vector<std::string>& lines, const std::string& word)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const std::string& line) { return line.find(word) != std::string::npos; }));
}

std::string last_line(const std::string& text)
{
    const std::string whole = text.substr(0, text.size() - 1);
    return whole.substr(whole.rfind('\n') + 1);
}

/// Two thread counts at 16 working sets and one rate of arithmetic, thrice: 102 rows of 3 ms; then copies on the levels
/// found.
const std::string short_plan =
    "measure: {warmup: 0, min_samples: 3, max_samples: 3}\nrounds: 3\nmax_rounds: 4\n"
    "run:\n  - {bench: bandwidth, operation: load}\n  - {bench: flops, operation: fma}\n"
    "  - {bench: bandwidth, operation: copy, working_set: levels}\n";

}  // namespace

TEST_CASE("a calibration ends in time, lists what it skipped, and continued it is the one that ran longer")
{
    const Workbench bench;
    const auto registry = [&] { return probing_registry(bench.clock, 1); };
    std::ofstream(bench.folder / "plan.yaml") << short_plan;
    std::ofstream(bench.folder / "ends.yaml") << "end_after_seconds: 0.2\n" << short_plan;
    REQUIRE(calibrate_on(bench, {"--plan", bench.path("plan.yaml"), "--out", bench.path("long")}, registry).status ==
            0);
    const std::vector<std::string> all = rows_in(bench.folder / "long");
    REQUIRE(all.size() > 102);

    const double begin = *bench.clock.now;
    const std::vector<std::string> words{"--plan", bench.path("ends.yaml")};
    const auto said = calibrate_on(bench, words, registry);
    CHECK(said.status == 0);
    CHECK(*bench.clock.now - begin <= 0.2 + 0.004);
    const std::filesystem::path folder = last_line(said.out);
    const std::vector<std::string> rows = rows_in(folder);
    CHECK(rows.size() == 106);  // with a copy on each of two levels, after the first round's loads
    CHECK(count_of(rows, " skipped ") == 106 - 67);
    CHECK_THAT(said.err, Catch::Contains("skipped: 39 of 106 rows\n    39  the time of the run, 200 ms, was over"));
    CHECK_THAT(said.out,
               Catch::Contains("39 of 106 rows were not measured") &&
                   Catch::Contains("`roof calibrate --continue --plan " + bench.path("ends.yaml") + " --minutes 1`"));
    CHECK(read_results(folder).rows.back().reason == "the time of the run, 200 ms, was over");
    CHECK(calibration_kind(folder, read_rows(folder)) == CalibrationKind::unfinished);

    std::vector<std::string> more = words;
    more.insert(more.end(), {"--continue", "--minutes", "3"});
    const auto continued = calibrate_on(bench, more, registry);
    CHECK(continued.status == 0);
    CHECK(last_line(continued.out) == folder.string());
    CHECK(rows_in(folder) == all);
    CHECK(calibration_kind(folder, read_rows(folder)) == CalibrationKind::full);
    CHECK(last_line(calibrate_on(bench, words, registry).out) != folder.string());
}

TEST_CASE("a calibration that was stopped goes on with --continue, and without one to continue that is an error")
{
    const Workbench bench;
    std::ofstream(bench.folder / "plan.yaml") << short_plan;
    const auto run = [&](std::vector<std::string> words, int stop_at) {
        std::ostringstream out;
        std::ostringstream err;
        words.insert(words.begin(), {"calibrate", "--plan", bench.path("plan.yaml")});
        const int status =
            run_command_line(words, {out, err, [&] { return probing_registry(bench.clock, 1); }, bench.clock.clock(),
                                     Terminal{}, tests::interrupt_at(stop_at), bench.folder / "results"});
        return tests::Said{status, out.str(), err.str()};
    };
    const auto nothing = run({"--continue"}, 1'000'000);
    CHECK(nothing.status == 2);
    CHECK_THAT(nothing.err, Catch::Contains("there is nothing to continue"));
    // What roofs need goes first: they are there after 12 launches, and an earlier end says which are not.
    const auto early = run({"--out", bench.path("early")}, 2);
    CHECK(early.status == 130);
    CHECK_THAT(early.err, Catch::Contains("Not measured: the roof of DRAM with 1 thread, DRAM with 2 threads, fp32 "
                                          "with 1 thread, fp32 with 2 threads."));
    const auto stopped = run({}, 50);
    REQUIRE(stopped.status == 130);
    CHECK_THAT(stopped.err, Catch::Contains("rows were not measured"));
    for (const char* roof : {"DRAM with", "fp32 with"}) CHECK(stopped.err.find(roof) == std::string::npos);
    const auto said = run({"--continue"}, 1'000'000);
    CHECK(said.status == 0);
    REQUIRE(run({"--out", bench.path("whole")}, 1'000'000).status == 0);
    CHECK(rows_in(last_line(said.out)) == rows_in(bench.folder / "whole"));
}

TEST_CASE("calibrate --minutes measures what is not steady until they are over, however many rounds the plan allows")
{
    const Workbench bench;
    std::ofstream(bench.folder / "plan.yaml") << "measure: {warmup: 0, min_samples: 3, max_samples: 3}\nrounds: 2\n"
                                                 "max_rounds: 3\nrun:\n  - {bench: flops, threads: 1}\n";
    const auto rows_with = [&](std::vector<std::string> options, const std::string& out) {
        int round = 0;
        const auto registry = [&] {
            BenchRegistry changing;
            changing.machine() = fakes::fake_machine();
            changing.add(std::make_unique<fakes::FakeBench>(
                "flops", Role::compute, std::vector<Axis>{{"threads", "threads", {"1"}, {}, true, 1, 2}},
                [&round](const Point& point) {
                    fakes::FakeSubject::Script script = compute_script(point);
                    script.rest_seconds = 1 + 0.1 * (++round % 7);
                    return script;
                },
                bench.clock));
            return changing;
        };
        options.insert(options.begin(), {"--plan", bench.path("plan.yaml"), "--out", bench.path(out)});
        REQUIRE(calibrate_on(bench, options, registry).status == 0);
        return rows_in(bench.folder / out).size();
    };
    CHECK(rows_with({}, "plan") == 3);
    const double begin = *bench.clock.now;
    CHECK(rows_with({"--minutes", "1"}, "minute") > 10);
    CHECK(*bench.clock.now - begin >= 60);
    CHECK(*bench.clock.now - begin < 65);
    CHECK_THAT(calibrate({"--minutes", "0"}).err, Catch::Contains("--minutes"));
}

TEST_CASE("calibrate --lasting repeats the roofs of the newest calibration, in a folder that is no calibration")
{
    const Workbench bench;
    const auto at = [&](double slowdown) { return [&, slowdown] { return probing_registry(bench.clock, slowdown); }; };
    const auto none = calibrate_on(bench, {"--lasting"}, at(1));
    CHECK(none.status == 2);
    CHECK_THAT(none.err, Catch::Contains("this machine has none of cpu: `roof calibrate` first"));
    CHECK_THAT(calibrate_on(bench, {"--lasting", "--quick"}, at(1)).err, Catch::Contains("without --quick"));
    const std::filesystem::path calibration = last_line(calibrate_on(bench, {"--quick"}, at(1)).out);
    const auto said = calibrate_on(bench, {"--lasting", "--threads", "2"}, at(1.25));
    REQUIRE(said.status == 0);
    const std::filesystem::path folder = last_line(said.out);
    std::vector<std::string> points;
    for (const Measurement& row : read_results(folder).rows) {
        points.push_back(row.bench + " " + row.point.text("operation") + " " + row.point.text("threads"));
        CHECK(row.sustained.seconds.median.value == Approx(1.25 * tests::launch_seconds));
    }
    CHECK(points == std::vector<std::string>{"bandwidth copy 2", "bandwidth load 2", "bandwidth store 2",
                                             "bandwidth update 2", "flops fma 2", "flops fma 2"});
    CHECK(find_calibration(bench.folder / "results" / "fake-2cpu") == calibration);
    CHECK(find_sustained(calibration) == folder);
    const auto shown = calibrate_on(bench, {"--lasting", "--json"}, at(1.25));
    CHECK(json::parse(shown.out).at("lasting").size() == 12);
}
