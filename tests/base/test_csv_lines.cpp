#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace roof;

namespace {

std::vector<std::vector<std::string>> cells_of(const std::string& text, char separator = ',')
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
    CHECK(cells_of("a,\"b,c\",\"d\"\"e\",\n,\"f\"\"g\",\"h\",i\r\n\nj,k\n") == expected);
    CHECK(cells_of(" a , b\t,c\rd\n") == std::vector<std::vector<std::string>>{{" a ", " b\t", "c\rd"}});
    CHECK(cells_of("a,b;c\n", ';') == std::vector<std::vector<std::string>>{{"a,b", "c"}});
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
    CHECK_THROWS_WITH(cells_of("a,b\n1,2\n3,\"4\n5,6\n"),
                      "x.csv:3: a quote is opened and not closed, or stands within a cell");
}

TEST_CASE("a line of more than 16 MiB is refused")
{
    const std::string longest(std::size_t{16} << 20, 'x');
    std::istringstream csv("a\n" + longest + "\n" + longest + "x\n");
    CsvLines lines(csv, "file");
    REQUIRE((lines.next() && lines.next()));
    CHECK(lines.cells() == std::vector<std::string_view>{longest});
    CHECK_THROWS_WITH(lines.next(), Catch::Contains("file:3: a line is longer than 16 MiB"));
}

TEST_CASE("a stream that cannot be read has no lines, and a colon states a run only behind a column of checksums")
{
    std::istringstream failed("a,b\n");
    failed.setstate(std::ios::failbit);
    CHECK_FALSE(CsvLines(failed, "x.csv").next());
    for (const auto& [header, run] : {std::pair{"a,b:c\n", ""}, {"a,block_checksum:c\n", "c"}}) {
        std::istringstream csv(header);
        CsvLines lines(csv, "x.csv");
        REQUIRE(lines.next());
        CHECK(lines.run() == run);
        CHECK(lines.header().has_value() == (lines.run() == "c"));
    }
}

TEST_CASE("a line of another run is told")
{
    std::istringstream csv("a,block_checksum:one\n");
    CsvLines lines(csv, "x.csv");
    REQUIRE(lines.next());
    CHECK_NOTHROW(check_run(lines, "one"));
    CHECK_THROWS_WITH(check_run(lines, "two"), "x.csv:1: it is of the run one, and machine.yaml of the run two");
    CHECK_THROWS_WITH(check_run(lines, ""), "x.csv:1: it is of the run one, and machine.yaml of none");
}
