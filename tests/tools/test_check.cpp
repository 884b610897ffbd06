// `roof check`, and what the other commands do with a damaged folder.
#include "ert/base/files.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using Catch::Contains;
using tests::Said;
using tests::Workbench;

namespace {

void replace(const std::filesystem::path& file, const std::string& from, const std::string& to)
{
    std::string text = read_file(file);
    text.replace(text.find(from), from.size(), to);
    write_file(file, text);
}

}  // namespace

TEST_CASE("check finds nothing wrong with a whole folder, and names what is changed")
{
    const Workbench bench;
    const std::string run = bench.path("run");
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4,8", "--out", run}).status == 0);
    const Said whole = bench.roof({"check", run});
    CHECK(whole.status == 0);
    CHECK_THAT(whole.out, Contains("2 rows, 0 of them damaged: nothing is wrong"));
    const std::string before = bench.roof({"report", run}).out;

    replace(run + "/measurements.csv", ",tinynet,8,", ",tinynet,9,");
    const Said damaged = bench.roof({"check", run});
    CHECK(damaged.status == 1);
    CHECK_THAT(damaged.out, Contains("damaged: ") && Contains("measurements.csv:3: ") && Contains("1 of them damaged"));

    const Said report = bench.roof({"report", run});
    CHECK(report.status == 1);
    CHECK_THAT(report.err, Contains("measurements.csv:3: "));
    CHECK_THAT(report.out, Contains(" damaged: "));
    CHECK_THAT(read_file(run + "/report.html"), Contains("Damaged files"));

    CHECK(bench.roof({"run", "tinynet", "--batch", "4,8", "--out", run}).status == 2);
}

TEST_CASE("accepting edits lists each line that was changed, wanted or not")
{
    const Workbench bench;
    const std::string run = bench.path("run");
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4,8,16", "--out", run}).status == 0);
    replace(run + "/measurements.csv", ",tinynet,8,", ",tinynet,9,");
    std::string samples = read_file(run + "/samples.csv");
    samples[samples.find_last_of("123456789")] ^= 1;  // of the last row
    write_file(run + "/samples.csv", samples);
    replace(run + "/plan.yaml", "tinynet", "tinynot");
    const Said accepted = bench.roof({"check", run, "--accept-edited"});
    INFO(accepted.out);
    CHECK_THAT(accepted.out, Contains("plan.yaml: it was changed") && Contains("/samples.csv:"));
    // The cell does not fit its row's name, which stays damaged.
    CHECK_THAT(accepted.out, Contains("damaged: ") && Contains("measurements.csv:3: its id is not that of its cells"));
}

TEST_CASE("accepted edits are told by check and on the page")
{
    const Workbench bench;
    const std::string run = bench.path("run");
    REQUIRE(bench.roof({"run", "tinynet", "--batch", "4", "--out", run}).status == 0);
    replace(run + "/measurements.csv", "A made-up rate", "An edited rate");
    CHECK(bench.roof({"check", run}).status == 1);
    const Said accepted = bench.roof({"check", run, "--accept-edited"});
    CHECK(accepted.status == 0);
    CHECK_THAT(accepted.out, Contains("accepted: measurements.csv: edited after it was written"));
    CHECK_THAT(accepted.out, Contains("measurements.csv:2: it does not match its checksum"));
    CHECK(bench.roof({"report", run}).status == 0);
    CHECK_THAT(read_file(run + "/report.html"), Contains("measurements.csv: edited after it was written"));
}
