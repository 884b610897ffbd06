#include "../fakes/temporary_folder.hpp"
#include "analysis/report/report.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "made.hpp"
#include "recordings.hpp"
#include "tests/fakes/read_csv.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

using namespace roof;
using namespace roof::analysis;

namespace {

Study made_run()
{
    return open_study(std::filesystem::path(ROOF_TEST_DATA) / "data/made/run");
}

}  // namespace

TEST_CASE("placements are exported one line per memory level, with units in the names")
{
    const fakes::TemporaryFolder folder;
    write_tables(std::vector{made::study({made::row("net, \"quoted\"")})}, folder / "csv");
    const CsvTable table = read_csv(folder / "csv/placements.csv");
    REQUIRE(table.rows.size() == 8 * 3);
    const auto cell = [&](std::size_t row, const char* column) { return table.rows[row][table.column(column)]; };
    const std::size_t conv_dram = 4 * 3 + 2;
    CHECK(cell(conv_dram, "model") == "net, \"quoted\"");
    CHECK(cell(conv_dram, "name") == "conv1");
    CHECK(cell(conv_dram, "phase") == "forward");
    CHECK(cell(conv_dram, "level") == "DRAM");
    CHECK(std::stod(cell(conv_dram, "level_high_bytes")) == 4e9);
    CHECK(std::stod(cell(conv_dram, "attainable_s")) == Approx(0.010));
    CHECK(cell(conv_dram, "binds") == "fp32");
    CHECK(cell(conv_dram, "work_known") == "analytic");
}

TEST_CASE("ceilings are exported with their intervals")
{
    const fakes::TemporaryFolder folder;
    write_tables(std::vector{made::study({})}, folder / "csv");
    const CsvTable table = read_csv(folder / "csv/ceilings.csv");
    REQUIRE(table.rows.size() == 10);
    CHECK(std::stod(table.rows[0][table.column("rate_high_per_s")]) == Approx(220e9));
    CHECK(table.rows[0][table.column("unit")] == "B/s");
}

TEST_CASE("a lower bound has no upper end, and one sample no interval")
{
    const fakes::TemporaryFolder folder;
    Ceilings roofs = made::ceilings();
    roofs.all[0].steadiness = Steadiness::at_least;
    roofs.all[1].rate.n = 1;
    write_tables(std::vector{made::study({}, roofs)}, folder / "csv");
    const CsvTable table = read_csv(folder / "csv/ceilings.csv");
    const auto cell = [&](std::size_t row, const char* column) { return table.rows[row][table.column(column)]; };
    CHECK(!cell(0, "rate_low_per_s").empty());
    CHECK(cell(0, "rate_high_per_s").empty());
    CHECK(!cell(1, "rate_median_per_s").empty());
    CHECK(cell(1, "rate_low_per_s").empty());
    CHECK(cell(1, "rate_high_per_s").empty());
}

TEST_CASE("without ceilings numbers of roofs are empty, never zero")
{
    const fakes::TemporaryFolder folder;
    write_tables(std::vector{made::study({made::row()}, {})}, folder / "csv");
    const CsvTable table = read_csv(folder / "csv/placements.csv");
    REQUIRE(table.rows.size() == 8);
    for (const char* column : {"level", "level_low_bytes", "compute_roof_flop_per_s", "attainable_s", "headroom_s"})
        CHECK(table.rows[0][table.column(column)].empty());
}

TEST_CASE("every panel of the report has a table, except the one that holds sentences and no numbers")
{
    std::set<std::string_view> names;
    for (const Panel& panel : panels()) {
        INFO(panel.id);
        CHECK((panel.tables.front().make == nullptr) == (panel.id == "absent"));
        for (const PanelTable& table : panel.tables)
            if (!table.name.empty()) CHECK((table.make != nullptr && names.insert(table.name).second));
    }
}

TEST_CASE(
    "the tables of the panels are written as CSV and JSON with the same rows, name the study, and leave no empty file")
{
    const fakes::TemporaryFolder folder;
    const std::vector<Study> studies{made_run(), made_run()};
    write_tables(studies, folder / "tables");
    std::vector<std::string> names;
    for (const Panel& panel : panels())
        for (const PanelTable& table : panel.tables)
            if (!table.name.empty()) names.emplace_back(table.name);
    for (const std::string& name : names) {
        INFO(name);
        const std::set<std::string> empty{"predictions",    "kernels",          "ert",     "counted",
                                          "counted_phases", "time_breakdown",   "calls",   "copies",
                                          "memory",         "memory_over_time", "scaling", "data_sheets",
                                          "baseline",       "traffic",          "energy",  "sustained"};
        REQUIRE(std::filesystem::exists(folder / "tables" / (name + ".csv")) != empty.contains(name));
        CHECK(std::filesystem::exists(folder / "tables" / (name + ".json")) != empty.contains(name));
        if (empty.contains(name)) continue;
        const CsvTable csv = read_csv(folder / "tables" / (name + ".csv"));
        const auto json = nlohmann::json::parse(read_file(folder / "tables" / (name + ".json")));
        REQUIRE(csv.rows.size() == json.size());
        CHECK(csv.header.front() == "study");
        for (std::size_t i = 0; i < json.size(); ++i) {
            CHECK(json[i].size() == csv.header.size());
            CHECK(csv.rows[i][0] == "run");
        }
    }
}

TEST_CASE("recordings are exported with the numbers of the panels")
{
    const fakes::TemporaryFolder folder;
    Study study = made::study({made::row()});
    study.results.folder = folder.path();
    made::record(folder, study.results.rows.front().id());
    const auto time_breakdown = to_json(time_breakdown_table(study));
    REQUIRE(time_breakdown.size() == 1);
    CHECK(time_breakdown[0]["wall_s"].get<double>() ==
          Approx(time_breakdown[0]["kernels_s"].get<double>() + time_breakdown[0]["unclassified_s"].get<double>() +
                 time_breakdown[0]["collectives_s"].get<double>() + time_breakdown[0]["copies_s"].get<double>() +
                 time_breakdown[0]["idle_s"].get<double>()));
    CHECK(time_breakdown[0]["kernels_s"].get<double>() == Approx(0.020));
    CHECK(to_json(calls_table(study))[0]["call"] == "cudaLaunchKernel");
    CHECK(to_json(copies_table(study))[0]["rate_bytes_per_s"].get<double>() == Approx(1e9));
    CHECK(to_json(memory_table(study))[0]["peak_bytes"].get<double>() == Approx(5e6));
    CHECK(memory_over_time_table(study).rows.empty());  // the records have no start
    const auto counted = to_json(counted_kernels_table(study));
    REQUIRE_FALSE(counted.empty());
    CHECK(counted[0]["known"] == "counter");
}

TEST_CASE("a table holds the numbers that its panel shows")
{
    const Study study = made_run();
    const auto rows_of = [&](const DataTable& table) { return to_json(table); };
    const auto verdict = rows_of(verdict_table(study));
    const std::vector<const Measurement*> steps = step_rows(study.results.rows);
    REQUIRE(verdict.size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CHECK(verdict[i].at("status") == name(steps[i]->status));
        if (steps[i]->status == Status::ok)
            CHECK(verdict[i].at("time_median_s") == steps[i]->seconds.median.value);
        else
            CHECK(verdict[i].at("time_median_s").is_null());
    }
    std::map<std::string, double> phases;
    for (const auto& part : rows_of(breakdown_table(study)))
        if (part.at("by") == "phase") phases[part.at("row")] += part.at("share_of_step").get<double>();
    REQUIRE_FALSE(phases.empty());
    for (const auto& [row, share] : phases) CHECK(share == Approx(1));
    const auto what_if = rows_of(what_if_table(study));
    for (const auto& answer : what_if)
        if (answer.at("reason") == "") CHECK(answer.at("predicted_s") <= answer.at("measured_s"));
    CHECK(rows_of(bandwidth_table(study)).size() > 10);
}

TEST_CASE("a folder that cannot be made is an input error")
{
    const fakes::TemporaryFolder folder;
    std::ofstream(folder / "file") << "x";
    CHECK_THROWS_AS(write_tables(std::vector{made::study({})}, folder / "file/csv"), InputError);
}
