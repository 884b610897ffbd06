#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

using namespace roof;

TEST_CASE("cells with commas, quotes and line ends are unchanged after writing and reading")
{
    const std::vector<std::string> cells{"plain", "a,b", "say \"hi\"", "two\nlines", ""};
    const std::string text = csv_line(std::vector<std::string>{"a", "b", "c", "d", "e"}) + csv_line(cells);
    const CsvTable table = parse_csv(text, "test");
    REQUIRE(table.rows.size() == 1);
    REQUIRE(table.rows[0] == cells);
    REQUIRE(table.complete_bytes == text.size());
}

TEST_CASE("an incomplete last line is left out and its position reported")
{
    const std::string whole = "a,b\n1,2\n";
    for (const std::string torn : {"3", "3,4", "\"3\n", "3,\"x\ny"}) {
        const CsvTable table = parse_csv(whole + torn, "test");
        REQUIRE(table.rows == std::vector<std::vector<std::string>>{{"1", "2"}});
        REQUIRE(table.complete_bytes == whole.size());
    }
}

TEST_CASE("a row with too few cells is an error with file and row")
{
    REQUIRE_THROWS_AS(parse_csv("a,b\n1,2\n3\n", "x.csv"), InputError);
    REQUIRE_THROWS_WITH(parse_csv("a,b\n1,2\n3\n", "x.csv"), Catch::Contains("x.csv: row 3"));
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
