// The commands that read results, from a run on the fake registry to files and exit statuses.
#include "ert/base/files.hpp"
#include "ert/method/results/results.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <set>
#include <string>

using namespace roof;
using tests::Workbench;

TEST_CASE("a report adds only the page to the folder it reads")
{
    const Workbench bench;
    const std::string run = bench.path("run");
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4", "--out", run}).status == 0);
    const auto files = [&] {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(run)) names.insert(entry.path().filename());
        return names;
    };
    std::set<std::string> expected = files();
    REQUIRE(bench.roof({"report", run, "--out", bench.path("page.html")}).status == 0);
    CHECK(files() == expected);
    REQUIRE(bench.roof({"report", run}).status == 0);
    expected.insert("report.html");
    CHECK(files() == expected);
}

TEST_CASE("the page of a folder that was received does not go where a link in it leads")
{
    const Workbench bench;
    const std::string run = bench.path("run");
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4", "--out", run}).status == 0);
    write_file(bench.path("victim"), "precious");
    std::filesystem::create_symlink("../victim", run + "/report.html");
    REQUIRE(bench.roof({"report", run}).status == 0);
    CHECK(read_file(bench.path("victim")) == "precious");
    CHECK_THAT(read_file(run + "/report.html"), Catch::Contains("<!DOCTYPE html>", Catch::CaseSensitive::No));
    std::filesystem::create_symlink("victim", bench.path("chosen.html"));
    REQUIRE(bench.roof({"report", run, "--out", bench.path("chosen.html")}).status == 0);
    CHECK_THAT(read_file(bench.path("victim")), Catch::Contains("html"));
}

TEST_CASE("the trace of a folder that was received does not go where a link in it leads")
{
    const Workbench bench;
    const std::string run = bench.path("run");
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4", "--out", run}).status == 0);
    write_file(bench.path("victim"), "precious");
    std::filesystem::create_symlink("../victim", run + "/trace.json");
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(run);
    const auto said = bench.roof({"trace", "."});
    std::filesystem::current_path(before);
    REQUIRE(said.status == 0);
    CHECK(read_file(bench.path("victim")) == "precious");
    CHECK_THAT(read_file(run + "/trace.json"), Catch::Contains("traceEvents"));
}

TEST_CASE("a report of a run draws pictures and data, a trace and what-if read it, and compare can fail a pipeline")
{
    const Workbench bench;
    const std::string run = bench.path("run");
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4,8", "--out", run}).status == 0);
    const auto said =
        bench.roof({"report", run, "--pictures", bench.path("pictures"), "--data", bench.path("page.json"), "--plain"});
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Catch::Contains("most images per"));
    CHECK(std::filesystem::exists(bench.path("page.json")));
    CHECK(std::filesystem::is_directory(bench.path("pictures")));
    const auto over = bench.roof({"report", run, "--data", run});
    CHECK(over.status == 2);
    CHECK_THAT(over.err, Catch::Contains("holds results, which the tables would replace"));
    CHECK_FALSE(std::filesystem::exists(run + "/verdict.csv"));
    REQUIRE(bench.roof({"report", run, "--data", bench.path("numbers"), "--brief"}).status == 0);
    for (const char* name : {"page.json", "verdict.csv", "trajectories.json"}) {
        CAPTURE(name);
        CHECK(std::filesystem::exists(bench.path("numbers") + "/" + name));
    }
    CHECK_FALSE(std::filesystem::exists(bench.path("numbers") + "/what_if.csv"));  // no ceilings, no rows
    CHECK(bench.roof({"trace", run, "--row", "2", "--out", bench.path("trace.json")}).status == 0);
    CHECK(std::filesystem::file_size(bench.path("trace.json")) > 100);
    CHECK(bench.roof({"trace", run, "--row", "3"}).status == 2);
    CHECK(bench.roof({"compare", run, run, "--fail-if", "slower:5%", "--noise", run}).status == 0);
    CHECK(bench.roof({"compare", run, run, "--fail-if", "slower"}).status == 2);
    const std::string few = bench.path("few");
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4", "--samples", "3", "--out", few}).status == 0);
    const auto unjudged = bench.roof({"compare", few, few, "--fail-if", "slower:5%"});
    CHECK(unjudged.status == 2);
    CHECK_THAT(unjudged.err, Catch::Contains("none was judged"));
    CHECK(bench.roof({"whatif", run, "--set", "nothing=2x"}).status == 2);
}

TEST_CASE("without a folder the newest run is reported")
{
    const Workbench bench;
    CHECK_THAT(bench.roof({"report"}).err, Catch::Contains("there is no run in"));
    for (const char* run : {"results/b/2026-01-01", "results/a/2026-01-02"})  // perhaps in one second
        REQUIRE(bench.roof({"run", "tinynet", "--batch", "4", "--out", bench.path(run)}).status == 0);
    CHECK_THAT(bench.roof({"report"}).out, Catch::Contains("results/a/2026-01-02/report.html"));
    RunDirectory(bench.folder / "results/a/2026-01-03", "stopped before its first row", fakes::fake_machine()).close();
    CHECK_THAT(bench.roof({"report"}).out, Catch::Contains("results/a/2026-01-02/report.html"));
    RunDirectory failed(bench.folder / "results/a/2026-01-04", "its one row failed", fakes::fake_machine());
    Measurement row;
    row.bench = "train";
    row.device = "cpu";
    row.point.set("model", "tinynet");
    row.status = Status::failed;
    row.reason = "made";
    row.started = "2099-01-04T00:00:00Z";
    failed.append(row);
    failed.close();
    CHECK_THAT(bench.roof({"report"}).out, Catch::Contains("results/a/2026-01-02/report.html"));
    const std::string other = bench.path("results/b/2026-01-01");
    CHECK_THAT(bench.roof({"report", other, bench.path("results/a/2026-01-02")}).out,
               Catch::Contains(other + "/report.html"));
}

TEST_CASE("a folder of runs is answered with its runs, the newest first")
{
    const Workbench bench;
    for (const char* run : {"all/machine/2026-01-01", "all/machine/2026-01-02"})
        REQUIRE(bench.roof({"run", "tinynet", "--batch", "4", "--out", bench.path(run)}).status == 0);
    for (const char* folder : {"all", "all/machine"}) {
        const auto said = bench.roof({"report", bench.path(folder)});
        CHECK(said.status == 2);
        CHECK_THAT(said.err, Catch::Contains("holds 2 runs") && !Catch::Contains("?"));
        CHECK(said.err.find("2026-01-02") < said.err.find("2026-01-01"));
    }
    const auto said =
        bench.roof({"report", bench.path("all/machine/2026-01-01"), "--out", bench.path("none/page.html")});
    CHECK(said.status == 2);
    CHECK_THAT(said.err, Catch::Contains("--out FILE"));
}
