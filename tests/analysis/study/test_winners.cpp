// Which device is fastest at which batch.
#include "analysis/study/tables.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

Measurement on(const std::string& device, int batch, double seconds)
{
    Measurement row = made::row("net", batch);
    row.device = device;
    row.seconds = made::about<Seconds>(seconds);
    return row;
}

DataTable table_of(std::vector<Measurement> rows)
{
    const Study study = made::study(std::move(rows));
    return winners_table(std::span(&study, 1));
}

}  // namespace

TEST_CASE("the fastest device of each batch comes first and the others say how far they are behind")
{
    const DataTable table =
        table_of({on("cpu", 4, 0.02), on("cpu", 16, 0.2), on("gpu:0", 4, 0.04), on("gpu:0", 16, 0.05)});
    REQUIRE(table.rows.size() == 4);
    CHECK(table.cell(0, "device").text == "cpu, 2 threads");
    CHECK(table.cell(0, "verdict").text == "fastest");
    CHECK(table.cell(1, "verdict").text == "slower");
    CHECK(table.cell(1, "of the fastest").text == "50%");
    CHECK(table.cell(2, "device").text == "gpu:0, 2 threads");
    CHECK(table.cell(2, "batch").text == "16");
    CHECK(table.cell(3, "of the fastest").text == "25%");
}

TEST_CASE("devices whose intervals reach each other are not told apart")
{
    CHECK(table_of({on("cpu", 4, 0.020), on("gpu:0", 4, 0.021)}).cell(1, "verdict").text == "not told apart");
}

TEST_CASE("a device that is not there has a row with its reason")
{
    Measurement absent = on("gpu:0", 4, 0.02);
    absent.status = Status::unsupported;
    absent.reason = "no such device";
    const DataTable table = table_of({on("cpu", 4, 0.02), absent});
    REQUIRE(table.rows.size() == 2);
    CHECK(table.cell(1, "verdict").text == "unsupported");
    CHECK(table.cell(1, "images/s").is_absent);
    CHECK_THAT(table.note, Catch::Contains("unsupported: no such device"));
}

TEST_CASE("steps of one device have no winner and steps that none ran are for programs only")
{
    CHECK(table_of({on("cpu", 4, 0.02), on("cpu", 8, 0.02)}).rows.empty());
    Measurement one = on("gpu:0", 4, 0.02), two = on("gpu:0,1", 4, 0.02);
    one.status = two.status = Status::unsupported;
    const DataTable table = table_of({one, two});
    CHECK(table.rows.size() == 2);
    CHECK(table.empty());
}
