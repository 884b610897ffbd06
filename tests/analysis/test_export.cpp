#include "../fakes/temporary_folder.hpp"
#include "analysis/export.hpp"
#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("placements are exported one line per memory level, with units in the names")
{
    const fakes::TemporaryFolder folder;
    write_csv(made::study({made::row("net, \"quoted\"")}), folder / "csv");
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
    write_csv(made::study({}), folder / "csv");
    const CsvTable table = read_csv(folder / "csv/ceilings.csv");
    REQUIRE(table.rows.size() == 10);
    CHECK(std::stod(table.rows[0][table.column("rate_high_per_s")]) == Approx(220e9));
    CHECK(table.rows[0][table.column("unit")] == "B/s");
}

TEST_CASE("without ceilings what a roof would give is empty, never zero")
{
    const fakes::TemporaryFolder folder;
    write_csv(made::study({made::row()}, {}), folder / "csv");
    const CsvTable table = read_csv(folder / "csv/placements.csv");
    REQUIRE(table.rows.size() == 8);
    for (const char* column : {"level", "level_low_bytes", "compute_roof_flop_per_s", "attainable_s", "headroom_s"})
        CHECK(table.rows[0][table.column(column)].empty());
}

TEST_CASE("a folder that cannot be made is an input error")
{
    const fakes::TemporaryFolder folder;
    std::ofstream(folder / "file") << "x";
    CHECK_THROWS_AS(write_csv(made::study({}), folder / "file/csv"), InputError);
}
