// `roof import` and `roof report --kernels` on the command line.
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>

using namespace roof;
using tests::Said;
using tests::Workbench;

namespace {

std::string perf_file(const Workbench& bench, const std::string& text)
{
    std::ofstream(bench.folder / "stat.json") << text;
    return bench.path("stat.json");
}

const std::string counted =
    "{\"counter-value\" : \"2.0\", \"unit\" : \"msec\", \"event\" : \"duration_time\", \"pcnt-running\" : 100.00}\n";

}  // namespace

TEST_CASE("an imported file names what it lacks, and its folder can be reported")
{
    const Workbench bench;
    const Said said =
        bench.roof({"import", perf_file(bench, counted), "--out", bench.path("run"), "--machine", "server"});
    INFO(said.err);
    CHECK(said.status == 0);
    CHECK_THAT(said.out, Catch::Contains("perf stat") && Catch::Contains("missing for a point on a roofline: FLOPs"));
    const Said report = bench.roof({"report", bench.path("run")});
    INFO(report.err);
    CHECK(report.status == 0);
    CHECK_THAT(report.out, Catch::Contains("2.00 ms") && Catch::Contains("imported from perf stat"));
}

TEST_CASE("wrong files and options are refused with one line")
{
    const Workbench bench;
    const std::string file = perf_file(bench, counted);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"import", bench.path("none")},
          {"import", file, "--device", "toaster"},
          {"import", file, file},
          {"import", file, file, "--name", "x"},
          {"import", perf_file(bench, counted.substr(0, 20)), "--out", bench.path("x")}}) {
        const Said said = bench.roof(words);
        CHECK(said.status == 2);
        CHECK(std::count(said.err.begin(), said.err.end(), '\n') == 1);
    }
}

TEST_CASE("the kernel rules of --kernels replace the built-in ones")
{
    const Workbench bench;
    REQUIRE(bench.roof({"import", perf_file(bench, counted), "--out", bench.path("run")}).status == 0);
    std::ofstream(bench.path("run") + "/kernels.csv") << "id,name,duration_s\nimport cpu model=stat,sgemm,0.001\n";
    CHECK_THAT(bench.roof({"report", bench.path("run")}).out, Catch::Contains("GEMM"));
    std::ofstream(bench.folder / "mine.yaml") << "categories:\n  - {category: \"my own\", names: [sgemm]}\n";
    CHECK_THAT(bench.roof({"report", bench.path("run"), "--kernels", bench.path("mine.yaml")}).out,
               Catch::Contains("my own"));
    std::ofstream(bench.folder / "mine.yaml") << "categories: [x]\n";
    CHECK(bench.roof({"report", bench.path("run"), "--kernels", bench.path("mine.yaml")}).status == 2);
}
