#include "ert/base/csv.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace roof;

TEST_CASE("cells with commas and quotes are unchanged after writing and reading, and a line end becomes a blank")
{
    const std::vector<std::string> cells{"plain", "a,b", "say \"hi\"", "two\nlines", ""};
    const std::string text = csv_line(std::vector<std::string>{"a", "b", "c", "d", "e"}) + csv_line(cells);
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
    REQUIRE_THROWS_WITH(parse_csv("a,b\n1,2\n3\n", "x.csv"), Catch::Contains("x.csv:3"));
}

TEST_CASE("a column is found by name, and the message for a missing one lists the columns")
{
    const CsvTable table = parse_csv("model,batch\nvgg16,4\n", "test");
    REQUIRE(table.column("batch") == 1);
    REQUIRE_FALSE(table.has("lr"));
    REQUIRE_THROWS_WITH(table.column("lr"), Catch::Contains("model, batch"));
}

TEST_CASE("an empty file is an empty table")
{
    REQUIRE(parse_csv("", "test").header.empty());
}

TEST_CASE("a line of more than 16 MiB is refused")
{
    std::istringstream csv("a\n" + std::string((std::size_t{16} << 20) + 70'000, 'x'));
    CsvLines lines(csv, "file");
    REQUIRE(lines.next());
    CHECK_THROWS_WITH(lines.next(), Catch::Contains("file:2: a line is longer than 16 MiB"));
}
