// Measured ceilings (fp32 100 GFLOP/s, DRAM 10 GB/s) beside a made-up data sheet (200 GFLOP/s, 40 GB/s).
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

Study under_sheet(const std::string& model)
{
    Study study = made::study({made::row()});
    MachineSheet sheet{.name = "made-1", .title = "The made card", .kind = "gpu"};
    sheet.models = {"another", model};
    sheet.peaks = {{Precision::fp32, {200e9}}, {Precision::bf16, {800e9}}};
    sheet.levels = {{"L2", {}, {1e6}}, {"DRAM", {40e9}, {1e12}}};
    sheet.sources = {"its leaflet"};
    study.sheets = {sheet};
    return study;
}

}  // namespace

TEST_CASE("ceilings are compared with the data sheet of their device")
{
    const std::vector<SheetShare> shares = beside_sheets(under_sheet("made"));
    REQUIRE(shares.size() == 2);
    CHECK(shares[0].what == "fp32");
    CHECK(shares[0].share() == Approx(0.5));
    CHECK(shares[0].unit == "FLOP/s");
    CHECK(shares[1].what == "DRAM");
    CHECK(shares[1].share() == Approx(0.25));
    CHECK(shares[1].unit == "B/s");
    CHECK(shares[1].source == "The made card: its leaflet");
}

TEST_CASE("a precision that was not measured and a level without a figure are left out")
{
    for (const SheetShare& share : beside_sheets(under_sheet("made"))) {
        CHECK(share.what != "bf16");
        CHECK(share.what != "L2");
    }
}

TEST_CASE("a device without a sheet has no figures")
{
    const Study study = under_sheet("something else");
    CHECK(beside_sheets(study).empty());
    CHECK(sheet_footnote(study).empty());
    CHECK(made::panel("ceilings", study).find("data sheet") == std::string::npos);
}

TEST_CASE("the page shows the share and the sources of the data sheet")
{
    const std::string panel = made::panel("ceilings", under_sheet("made"));
    CHECK(panel.find("Beside the data sheet") != std::string::npos);
    CHECK(panel.find("25%") != std::string::npos);
    CHECK(panel.find("The made card: its leaflet.") != std::string::npos);
}
