#include "analysis/study/exports/export.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

std::string text_of(const char* format, const std::string& device = "cpu")
{
    return exported(made::study({made::row()}), format, device);
}

}  // namespace

TEST_CASE("the export for ERT has the rates in its pairs, in billions")
{
    const auto empirical = nlohmann::json::parse(text_of("ert")).at("empirical");
    const auto rates = [&](const char* unit) {
        std::map<std::string, double> all;
        for (const auto& pair : empirical.at(unit).at("data")) all[pair.at(0)] = pair.at(1);
        return all;
    };
    CHECK(rates("gbytes") == std::map<std::string, double>{{"L1", 400}, {"L2", 100}, {"DRAM", 10}});
    CHECK(rates("gflops") == std::map<std::string, double>{{"FP32 GFLOPs", 100}, {"FP64 GFLOPs", 50}});
}

TEST_CASE("the export in likwid's style has its units and frames")
{
    CHECK_THAT(text_of("likwid"), Contains("|         DRAM |      load |       2 |  10000.00 |\n") &&
                                      Contains("|      fp32 |       fma |       2 | 100000.00 |\n") &&
                                      Contains("+-----------+"));
}

TEST_CASE("the export for the CARM tool has its two headers, and rates where it reads them")
{
    std::string text = text_of("carm");
    CHECK_THAT(text, Catch::StartsWith("Name:,made,L1 Size:,32,L2 Size:,512,L3 Size:,0,,L1,L1"));
    text.erase(0, text.find('\n') + 1);
    const auto cells_of = [&](std::size_t line) {
        std::vector<std::vector<std::string>> rows;
        // The header repeats names, so rows are read without one.
        for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
            rows.push_back(parse_csv(text.substr(at, text.find('\n', at) - at + 1), "carm").header);
        return rows.at(line);
    };
    const auto header = cells_of(0), dp = cells_of(1), sp = cells_of(2);
    REQUIRE(header.size() == 21);
    REQUIRE(dp.size() == 21);
    CHECK(dp[2] == "dp");
    CHECK(dp[9] == "400.0000");
    CHECK(dp[13] == "0");  // no L3
    CHECK(dp[15] == "10.0000");
    CHECK(dp[17] == "50.0000");
    CHECK(sp[17] == "100.0000");
}

TEST_CASE("points and ceilings are exported as CSV in SI units")
{
    const CsvTable points = parse_csv(text_of("points"), "points");
    CHECK(points.rows.size() >= 8);
    CHECK_THAT(text_of("points"), Contains("relu1"));
    CHECK_THAT(text_of("csv"), Contains("DRAM") && Contains("10000000000"));
}

TEST_CASE("an export is refused for an unknown format or device, and without ceilings")
{
    CHECK_THROWS_WITH(text_of("erd"), Contains("did you mean 'ert'"));
    CHECK_THROWS_WITH(text_of("ert", "gpu:0"), Contains("unknown device 'gpu:0'"));
    CHECK_THROWS_AS(exported(made::study({}, {}), "likwid", "cpu"), InputError);
}
