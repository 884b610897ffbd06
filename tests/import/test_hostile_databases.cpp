// Databases written by hand to compute without end, or to give more than they hold.
#include "analysis/recordings/import.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/import/fixtures.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

const std::string kernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
    "demangledName INTEGER, shortName INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 1, 1);";

std::string refusal_of(const std::string& sql)
{
    const fakes::TemporaryFolder folder;
    tests::make_database(folder / "made.sqlite", sql);
    try {
        import_file(folder / "made.sqlite");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a view in place of a table is refused, with rows without end or with none")
{
    for (const std::string where : {"", " WHERE x < 0"})
        CHECK_THAT(refusal_of(kernels +
                              "CREATE VIEW StringIds AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
                              "FROM n) SELECT x AS id, 'name' || x AS value FROM n" +
                              where + ";"),
                   Contains("'StringIds' is no table"));
}

TEST_CASE("a view under the name of kernels is refused, whatever its letters")
{
    CHECK_THAT(refusal_of("CREATE TABLE StringIds (id INTEGER, value TEXT);"
                          "CREATE VIEW cupti_activity_kind_KERNEL AS SELECT 1 AS start, 2 AS end, 0 AS deviceId;"),
               Contains("is no table"));
}

TEST_CASE("a table whose pages are used again and again gives no more rows than the file can hold")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder / "made.sqlite";
    std::string rows = "PRAGMA page_size = 512; CREATE TABLE StringIds (id INTEGER, value TEXT);";
    for (int k = 0; k < 20'000; ++k) rows += "INSERT INTO StringIds VALUES (" + std::to_string(k) + ", 'x');";
    tests::make_database(file, "BEGIN;" + rows + kernels + "COMMIT;");
    std::string bytes = read_file(file);
    constexpr std::size_t page = 512, header = 12;
    const auto two = [&](std::size_t at) {
        return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]) << 8 |
                                        static_cast<unsigned char>(bytes[at + 1]));
    };
    std::vector<std::size_t> chain;  // the interior pages, and a leaf
    for (const char kind : {5, 13})
        for (std::size_t at = page; at + page <= bytes.size() && (kind == 5 || bytes[chain.back()] == 5); at += page)
            if (bytes[at] == kind) chain.push_back(at);
    REQUIRE(chain.size() > 8);
    // Every pointer of each interior page goes to the next one.
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        const std::size_t at = chain[i], child = chain[i + 1] / page + 1;
        const std::string number{0, 0, static_cast<char>(child >> 8), static_cast<char>(child & 255)};
        bytes.replace(at + 8, 4, number);
        for (std::size_t cell = 0; cell < two(at + 3); ++cell)
            bytes.replace(at + two(at + header + 2 * cell), 4, number);
    }
    write_file(file, bytes);
    CHECK_THROWS_WITH(import_file(file), Contains("more than the file can hold"));
}
