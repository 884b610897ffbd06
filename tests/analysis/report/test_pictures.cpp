// Picture files are complete, and have no variables, which only browsers resolve.
#include "../fakes/temporary_folder.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/style.hpp"
#include "analysis/report/svg.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("the style sheet of a picture has no variables, dark theme or print rules")
{
    const std::string sheet = picture_style_sheet();
    CHECK(sheet.find("var(") == std::string::npos);
    CHECK(sheet.find("@media") == std::string::npos);
    CHECK(sheet.find(".point.forward{fill:#0072b2;stroke:#0072b2}") != std::string::npos);
}

TEST_CASE("a picture is a complete file with its style sheet, and the page has it without one")
{
    Svg svg(300, 10, "a line");
    svg.line({1, 2}, {3, 4}, "edge");
    const std::string file = svg.file(".edge{}");
    CHECK(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 300 10\""));
    CHECK(file.find("<style>.edge{}</style>") != std::string::npos);
    CHECK(file.ends_with("<path class=\"edge\" d=\"M1 2L3 4\"/>\n</svg>\n"));
    CHECK(svg.str().find("<style>") == std::string::npos);
    CHECK(svg.str().ends_with("<path class=\"edge\" d=\"M1 2L3 4\"/>\n</svg>\n"));
}

TEST_CASE("a study's pictures are written under their panels' names")
{
    const fakes::TemporaryFolder folder;
    const std::vector<Study> studies{made::study({made::row()})};
    const std::vector<std::filesystem::path> files = write_pictures(studies, folder / "pictures");
    CHECK(files.size() >= 4);
    CHECK(std::filesystem::exists(folder / "pictures/roofline-1.svg"));
    for (const std::filesystem::path& file : files) CHECK(std::filesystem::file_size(file) > 1000);
}

TEST_CASE("an axis has some sixty ticks at most, whatever its ends")
{
    CHECK(ticks(1, 1000, 10) == std::vector<double>{1, 10, 100, 1000});
    CHECK(ticks(1e-320, 1e300, 10).size() <= 61);
    CHECK(ticks(0, 1, 10).empty());
    CHECK(ticks(1, std::numeric_limits<double>::infinity(), 10).empty());
    CHECK(ticks(1, 10, 1).empty());
}
