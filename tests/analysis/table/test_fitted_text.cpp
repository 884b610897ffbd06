// Text that fits a window.
#include "analysis/table/fitted_text.hpp"
#include "ert/base/text.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

const std::vector<std::string> header{"name", "same", "other", "rate"};
const std::vector<std::vector<std::string>> rows{{"conv1", "cpu", "forward", "1.00"},
                                                 {"conv2", "cpu", "backward", "2.00"}};

/// The table as text; cells that start with a digit are numbers.
std::string fitted_table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& texts,
                         const std::vector<std::string>& expendable, int columns,
                         const std::vector<std::string>& identifying = {})
{
    DataTable table{.expendable = expendable, .identifying = identifying};
    for (const std::string& title : titles) table.columns.push_back({title});
    for (const std::vector<std::string>& row : texts) {
        table.rows.emplace_back();
        for (const std::string& text : row)
            table.rows.back().cells.push_back(text.front() >= '0' && text.front() <= '9' ? numeric_text(text)
                                                                                         : word(text));
    }
    return to_text(table, columns);
}

}  // namespace

TEST_CASE("a narrow table says once what is the same in every row, and a table that fits keeps all columns")
{
    CHECK(fitted_table(header, rows, {"other", "same"}, 0) == fitted_table(header, rows, {"other", "same"}, 80));
    const std::string text = fitted_table(header, rows, {"other", "same"}, 22);
    CHECK(text == "all: same cpu\nname   other     rate\nconv1  forward   1.00\nconv2  backward  2.00\n");
    DataTable named{.title = "Layers"};
    for (const std::string& title : header) named.columns.push_back({title});
    for (const auto& row : rows) named.rows.push_back({{word(row[0]), word(row[1]), word(row[2]), absent()}});
    CHECK(to_text(named, 22) ==
          "Layers; all: same cpu\nname   other     rate\nconv1  forward   -\nconv2  backward  -\n");
}

TEST_CASE("names that are still too long are truncated")
{
    const std::string text = fitted_table({"name", "rate"}, {{"ääääääääääääääääääääää", "1"}}, {}, 20);
    CHECK(split(text, '\n')[1] == "äääääääääääää~     1");
    CHECK(display_columns(split(text, '\n')[1]) == 20);
}

TEST_CASE("lines break between words and keep their indent, and a word without a break is cut")
{
    CHECK(fitted_lines("  one two three four five\nshort\n", 20) == "  one two three four\n    five\nshort\n");
    CHECK(fitted_lines(std::string(45, 'x'), 20) ==
          std::string(20, 'x') + "\n  " + std::string(18, 'x') + "\n  xxxxxxx\n");
    CHECK(fitted_lines("as it is", 0) == "as it is");
    CHECK(fitted_lines("--out DIR  a folder of results", 24) == "--out DIR  a folder of\n           results\n");
    CHECK(fitted_lines("--to  [here/and/there/as]", 20) == "--to\n [here/and/there/as]\n");
}

TEST_CASE("items stay whole")
{
    CHECK(fitted_items("roofs:", {"L1 400 GB/s", "L2 100 GB/s"}, 24) == "roofs:  L1 400 GB/s\n    L2 100 GB/s\n");
    CHECK(fitted_items("roofs:", {"L1 400 GB/s", "L2 100 GB/s"}, 0) == "roofs:  L1 400 GB/s  L2 100 GB/s\n");
}

TEST_CASE("a remark in the last column breaks between words below its heading")
{
    const std::string text =
        fitted_table({"name", "remark"}, {{"conv1", "it is above what the memory allows"}}, {}, 27);
    CHECK(text == "name   remark\nconv1  it is above what the\n         memory allows\n");
}

TEST_CASE("a table of numbers that is too wide has a line for each cell")
{
    const std::string text =
        fitted_table({"name", "time", "headroom"},
                     {{"conv1", "1.00 seconds", "2.00 seconds"}, {"conv2", "3.00 seconds", "4.00 seconds"}}, {}, 24);
    CHECK(text ==
          "name      conv1\ntime      1.00 seconds\nheadroom  2.00 seconds\n\n"
          "name      conv2\ntime      3.00 seconds\nheadroom  4.00 seconds\n");
}

TEST_CASE("a column that alone distinguishes two rows stays in the narrowest window")
{
    const std::vector<std::string> steps{"model", "data", "device", "time"};
    const std::vector<std::vector<std::string>> cells{{"resnet18", "synthetic", "cpu", "1.00 s"},
                                                      {"resnet18", "photographs", "cpu", "2.00 s"},
                                                      {"resnet34", "synthetic", "gpu:0", "3.00 s"}};
    const std::string text = fitted_table(steps, cells, {"data", "device"}, 26, {"model", "data", "device"});
    CHECK_THAT(text, Catch::Contains("photogr~") && !Catch::Contains("cpu"));
    CHECK_THAT(fitted_table(steps, cells, {"data", "device"}, 20), !Catch::Contains("photogr"));
}

TEST_CASE("table columns are as wide as their widest cell, and numbers are right-aligned")
{
    REQUIRE(to_text(text_table({"name", "rate"}, {{"L1", "9.5"}, {"DRAM", "120"}})) ==
            "name  rate\nL1     9.5\nDRAM   120\n");
    REQUIRE_THROWS_AS(text_table({"name", "rate"}, {{"one cell"}}), std::logic_error);
}
