#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

using namespace roof;

TEST_CASE("cells with commas and quotes are unchanged after writing and reading, and a line end becomes a blank")
{
    const std::vector<std::string> cells{"plain", "a,b", "say \"hi\"", "two\nlines", ""};
    const std::string text = csv_line(std::vector<std::string>{"a", "b", "c", "d", "e"}) + csv_line(cells);
    CHECK(text == "a,b,c,d,e\nplain,\"a,b\",\"say \"\"hi\"\"\",\"two lines\",\n");
    const CsvTable table = parse_csv(text, "test");
    REQUIRE(table.rows.size() == 1);
    REQUIRE(table.rows[0] == std::vector<std::string>{"plain", "a,b", "say \"hi\"", "two lines", ""});
}

TEST_CASE("an incomplete last line is left out")
{
    for (const std::string torn : {"3", "3,4", "\"3"})
        REQUIRE(parse_csv("a,b\n1,2\n" + torn, "test").rows == std::vector<std::vector<std::string>>{{"1", "2"}});
}

TEST_CASE("a row with too few cells is an error with file and line")
{
    REQUIRE_THROWS_AS(parse_csv("a,b\n1,2\n3\n", "x.csv"), InputError);
    REQUIRE_THROWS_WITH(parse_csv("a,b\n1,2\n3\n", "x.csv"), "x.csv:3: 1 cells, its header has 2");
}

TEST_CASE("a column is found by name, and the message for a missing one lists the columns")
{
    const CsvTable table = parse_csv("model,batch\nvgg16,4\n", "test");
    REQUIRE(table.column("batch") == 1);
    REQUIRE((table.has("batch") && !table.has("lr")));
    REQUIRE_THROWS_WITH(table.column("lr"), Catch::Contains("model, batch"));
}

TEST_CASE("an empty file is an empty table")
{
    REQUIRE(parse_csv("", "test").header.empty());
}

TEST_CASE("a cell is a number, or is named")
{
    CHECK(number_in_cell("-1.5e3", "x.csv:2") == -1500);
    CHECK_THROWS_WITH(number_in_cell("1s", "x.csv:2"), "x.csv:2: '1s' is not a number");
}
