#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace roof;

namespace {

std::vector<std::vector<std::string>> lines_of(const std::string& text, char separator = ',')
{
    std::istringstream csv(text);
    CsvLines lines(csv, "x.csv", separator);
    std::vector<std::vector<std::string>> all;
    while (lines.next()) all.emplace_back(lines.cells().begin(), lines.cells().end());
    return all;
}

}  // namespace

TEST_CASE("cells have no outer quotes, and doubled quotes become one")
{
    const std::vector<std::vector<std::string>> expected{
        {"a", "b,c", "d\"e", ""}, {"", "f\"g", "h", "i"}, {""}, {"j", "k"}};
    CHECK(lines_of("a,\"b,c\",\"d\"\"e\",\n,\"f\"\"g\",\"h\",i\r\n\nj,k\n") == expected);
    CHECK(lines_of(" a , b\t,c\rd\n") == std::vector<std::vector<std::string>>{{" a ", " b\t", "c\rd"}});
    CHECK(lines_of("a,b;c\n", ';') == std::vector<std::vector<std::string>>{{"a,b", "c"}});
}

TEST_CASE("a last line without an end is left out and reported")
{
    for (const std::string torn : {"", "1", "1,2", "1,\"x"}) {
        std::istringstream csv("a,b\n" + torn);
        CsvLines lines(csv, "x.csv");
        CHECK(lines.next());
        CHECK_FALSE(lines.next());
        CHECK(lines.cut_off() == !torn.empty());
    }
}

TEST_CASE("an unclosed quote is an error with the line")
{
    CHECK_THROWS_WITH(lines_of("a,b\n1,2\n3,\"4\n5,6\n"), Catch::Contains("x.csv:3"));
}
