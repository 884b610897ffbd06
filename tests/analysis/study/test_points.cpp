#include "analysis/report/report.hpp"
#include "analysis/study/points.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/error.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

/// 1 GFLOP and 1 GB in 0.4 s: 1 FLOP/B under DRAM's 10 GB/s, so at least 0.1 s.
GivenPoint point(double bytes = 1e9)
{
    return {.name = "mine", .flops = {1e9}, .bytes = {bytes}, .seconds = {0.4}};
}

nlohmann::json only_row(const GivenPoint& given)
{
    return to_json(points_table(made::study({row_of(given)})))[0];
}

}  // namespace

TEST_CASE("a point shows where it lies, what binds, and what reaching the roof would save")
{
    const auto row = only_row(point());
    CHECK(row["rate_flop_per_s"] == Approx(2.5e9));
    CHECK(row["rate_byte_per_s"] == Approx(2.5e9));
    CHECK(row["intensity_flop_per_byte"] == Approx(1));
    CHECK(row["ridge_flop_per_byte"] == Approx(10));
    CHECK(row["binds"] == "DRAM");
    CHECK(row["attainable_s"] == Approx(0.1));
    CHECK(row["share_of_attainable"] == Approx(0.25));
    CHECK(row["headroom_s"] == Approx(0.3));
    CHECK(row["times_as_fast"] == Approx(4));
    CHECK(row["share_is_upper_bound"] == false);
}

TEST_CASE("a point without bytes has a rate and a compute roof, and no intensity")
{
    const auto row = only_row(point(0));
    CHECK(row["binds"] == "fp32");
    CHECK(row["attainable_s"] == Approx(0.01));
    CHECK((!row.contains("intensity_flop_per_byte") || row["intensity_flop_per_byte"].is_null()));
    CHECK((!row.contains("bytes") || row["bytes"].is_null()));
    CHECK_THAT(row["note"].get<std::string>(), Contains("bytes are unknown"));
}

TEST_CASE("a point uses the roofs of its threads and its precision")
{
    GivenPoint given = point(1e6);
    given.threads = "1";
    given.precision = "fp64";
    const auto row = only_row(given);
    CHECK(row["roof_threads"] == 1);
    CHECK(row["binds"] == "fp64");
    CHECK(row["attainable_s"] == Approx(1e9 / 25e9));
}

TEST_CASE("a point of unknown bytes is a horizontal line on the page and in the terminal, and not at zero")
{
    const Study study = made::study({row_of(point(0))});
    CHECK_THAT(points_page(study), Contains("mine: bytes unknown") && !Contains(" 0 FLOP/B") && !Contains(">0 FLOP/B"));
    CHECK_THAT(terminal_roofline(study, 80, true), Contains("........"));
    const Study known = made::study({row_of(point())});
    CHECK_THAT(points_page(known), Contains(">mine<") && Contains("1.0 FLOP/B"));
}

TEST_CASE("numbers of points are plain or have their unit, also in a file")
{
    const auto points = parse_points("flops,seconds,bytes\n2TFLOP,0.002s,30GB\n2e12,0.002,3e10\n", "p.csv", {});
    REQUIRE(points.size() == 2);
    CHECK(points[0].flops.value == Approx(2e12));
    CHECK(points[0].seconds.value == Approx(0.002));
    CHECK(points[0].bytes.value == Approx(3e10));
    CHECK(points[1].bytes.value == 3e10);
    CHECK(positive_number("20ms", "--seconds", "s") == Approx(0.02));
    CHECK(positive_number("3 us", "--seconds", "s") == Approx(3e-6));
    CHECK_THROWS_WITH(positive_number("2 hours", "--seconds", "s"), Contains("such as 0.002, 20ms or 5s"));
}

TEST_CASE("the roofs over points are marked where they are lower bounds")
{
    Ceilings roofs = made::ceilings();
    for (Ceiling& ceiling : roofs.all)
        if (ceiling.level == "DRAM") ceiling.steadiness = Steadiness::at_least;
    const std::string text = roofs_over_points(made::study({row_of(point())}, roofs));
    CHECK_THAT(text, Contains("DRAM (load) ≥ 10.0 GB/s") && !Contains("L2 (load) ≥"));
    // Faster memory would allow less time, and so save more.
    const DataTable points = points_table(made::study({row_of(point())}, roofs));
    CHECK_THAT(to_text(points),
               Contains("≤ 25%") && Contains("≤ 100 ms") && Contains("≥ 300 ms") && Contains("≥ 4.00x"));
    CHECK(to_json(points)[0]["share_is_upper_bound"] == true);
}

TEST_CASE("names of points are text, not markup")
{
    GivenPoint given = point();
    given.name = "<b>";
    CHECK_THAT(points_page(made::study({row_of(given)})), Contains("&lt;b&gt;") && !Contains("<b>"));
}

TEST_CASE("a file of points takes what it leaves out from the options")
{
    GivenPoint usual;
    usual.name = "point";
    usual.precision = "fp64";
    usual.device = "gpu:0";
    const auto points = parse_points("name,flops,bytes,seconds\na,2e12,3e10,1.4\n,1,,2\n", "p.csv", usual);
    REQUIRE(points.size() == 2);
    CHECK(points[0].name == "a");
    CHECK(points[0].bytes.value == 3e10);
    CHECK(points[0].precision == "fp64");
    CHECK(points[1].name == "point 2");
    CHECK(points[1].bytes.value == 0);
    CHECK(points[1].device == "gpu:0");
}

TEST_CASE("of a file of regions those with declared work are points; its counters are left out")
{
    const std::string header = "name,calls,threads,seconds,flops,bytes,cycles\n";
    const auto points = parse_points(header + "all,1,2,0.5,,,\nloop,6,2,0.25,500,120,77\n", "regions.csv", {});
    REQUIRE(points.size() == 1);
    CHECK(points[0].name == "loop");
    CHECK(points[0].flops.value == 500);
    CHECK(points[0].bytes.value == 120);
    CHECK(points[0].seconds.value == 0.25);
    CHECK(points[0].threads == "2");
    CHECK_THROWS_WITH(parse_points(header + "all,1,2,0.5,,,\n", "regions.csv", {}), Catch::Contains("roof_work()"));
}

TEST_CASE("a wrong file of points is refused with its place")
{
    GivenPoint usual;
    usual.name = "point";
    const auto refusal = [&](const char* text) {
        try {
            parse_points(text, "p.csv", usual);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK_THAT(refusal("flops,seconds\n1,0\n"), Contains("p.csv: row 2, column seconds: '0'"));
    CHECK_THAT(refusal("flops,seconds\n-1,1\n"), Contains("column flops"));
    CHECK_THAT(refusal("flops,seconds,bytes\n1,1,nan\n"), Contains("column bytes"));
    CHECK_THAT(refusal("flop,seconds\n1,1\n"), Contains("did you mean 'flops'"));
    CHECK_THAT(refusal("seconds\n1\n"), Contains("flops"));
    CHECK_THAT(refusal("flops,seconds\n"), Contains("no points"));
    GivenPoint other = point();
    other.precision = "fp33";
    CHECK_THROWS_AS(row_of(other), InputError);
}
