// Recordings appear on the page and in the terminal, with unclassified kernels.
#include "analysis/study/tables.hpp"
#include "made.hpp"
#include "recordings.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

/// The row as people see it.
std::vector<std::string> texts(const DataTable& table, std::size_t row)
{
    std::vector<std::string> list;
    const DataTable visible = visible_in(Shown::terminal, table);
    for (const Cell& cell : visible.rows.at(row).cells) list.push_back(cell.text);
    return list;
}

}  // namespace

TEST_CASE("a run with recordings shows its kernels, time breakdown, calls, copies and memory")
{
    const fakes::TemporaryFolder folder;
    Study study = made::study({made::row()});
    study.results.folder = folder.path();
    made::record(folder, study.results.rows.front().id());

    const DataTable kernels = kernel_categories_table(study);
    REQUIRE(kernels.rows.size() == 2);
    CHECK(texts(kernels, 0) == std::vector<std::string>{"unclassified", "net b8", "cpu", "1", "4.00 ms", "17%"});
    CHECK(kernels.cell(0, "category").is_warning);
    CHECK_FALSE(kernels.cell(1, "category").is_warning);
    CHECK(kernels.cell(1, "category").text == "GEMM");

    const DataTable time_breakdown = time_breakdown_table(study);
    REQUIRE(time_breakdown.rows.size() == 1);
    CHECK(time_breakdown.cell(0, "kernels").text == "20.0 ms, 50%");
    CHECK(time_breakdown.cell(0, "unclassified").text == "4.00 ms, 10%");
    CHECK(time_breakdown.cell(0, "copies").text == "8.00 ms, 20%");
    CHECK(time_breakdown.cell(0, "idle").text == "8.00 ms, 20%");
    CHECK(time_breakdown.cell(0, "of the unrecorded step").text == "100%");

    const std::string text = recording_text(study, 0);
    CHECK_THAT(text, Catch::Contains("unclassified (!)") && Catch::Contains("cudaLaunchKernel ") &&
                         Catch::Contains("1.00 GB/s") && Catch::Contains("5.00 MB"));
    for (const char* panel : {"kernels", "counted", "time_breakdown", "calls", "copies", "memory"})
        CHECK_THAT(made::panel(panel, study), Catch::Contains("<table>"));
    CHECK_THAT(made::panel("kernels", study), Catch::Contains("<span class=\"warn\">unclassified</span>"));
    CHECK_THAT(made::panel("absent", study), !Catch::Contains("Kernels:") && !Catch::Contains("Counters:"));
}

TEST_CASE("records of other rows are left out, and a run without recordings shows none")
{
    const fakes::TemporaryFolder folder;
    Study study = made::study({made::row()});
    study.results.folder = folder.path();
    CHECK(recording_text(study, 0).empty());
    CHECK(made::panel("time_breakdown", study).empty());
    made::record(folder, "another row");
    Study recorded = made::study({made::row()});
    recorded.results.folder = folder.path();
    CHECK(recording_text(recorded, 0).empty());
}

TEST_CASE("kernels, calls, copies and memory are read once")
{
    const fakes::TemporaryFolder folder;
    Study study = made::study({made::row()});
    study.results.folder = folder.path();
    made::record(folder, study.results.rows.front().id());
    const std::string first = recording_text(study, 0);
    for (const char* file : {"kernels.csv", "api.csv", "copies.csv", "ranges.csv", "memory.csv"})
        REQUIRE(std::filesystem::remove(folder / file));
    CHECK(recording_text(study, 0) == first);
    for (const char* panel : {"kernels", "time_breakdown", "calls", "copies", "memory"})
        CHECK_THAT(made::panel(panel, study), Catch::Contains("<table>"));
}

TEST_CASE("counted FLOPs and bytes of a step, reads and writes added up, are beside the analytic ones of both")
{
    const fakes::TemporaryFolder folder;
    Study study = made::study({made::row()});
    study.results.folder = folder.path();
    const auto counter = [](const std::string& metric, double value, const std::string& unit) {
        return CounterRecord{"cpu", CounterScope::step, {}, {}, {}, {}, metric, value, unit};
    };
    append_records<CounterRecord>(
        folder.path(), study.results.rows.front().id(),
        std::vector{counter("FLOPs of fp32 by FMA, 256 bits", 1.2e9, "FLOP"), counter("FLOPs of fp32", 4e8, "FLOP"),
                    counter("read from memory", 3e7, "byte"), counter("written to memory", 1e7, "byte"),
                    counter("bytes of operands", 5e8, "byte"), counter("skx::L1D:REPLACEMENT", 5, "event")});
    const DataTable table = step_counters_table(study);
    REQUIRE(table.rows.size() == 3);
    CHECK(texts(table, 0) == std::vector<std::string>{"FLOPs", "net b8", "cpu", "1.60 GFLOP", "1.50 GFLOP"});
    CHECK(texts(table, 1) ==
          std::vector<std::string>{"bytes at DRAM", "net b8", "cpu", "40.0 MB", "24.0 MB to 12.0 GB"});
    CHECK(table.cell(2, "counted").text == "bytes at L1");
    CHECK_THAT(table.title, !Catch::Contains("only the fetches"));
    CHECK_THAT(made::panel("counted", study), Catch::Contains("1.60 GFLOP"));
    append_records<CounterRecord>(folder.path(), study.results.rows.front().id(),
                                  std::vector{counter("lines into L1", 6e8, "byte")});
    CHECK_THAT(recording_text(study, 0), Catch::Contains("of lines only the fetches, not what is written back"));
}
