// Picture files are complete, and have no variables, which only browsers resolve.
#include "../fakes/temporary_folder.hpp"
#include "analysis/report/pictures.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("the style sheet of a picture has no variables, dark theme or print rules")
{
    const std::string sheet = plain_style_sheet();
    CHECK(sheet.find("var(") == std::string::npos);
    CHECK(sheet.find("@media") == std::string::npos);
    CHECK(sheet.find(".point.forward{fill:#0072b2;stroke:#0072b2}") != std::string::npos);
}

TEST_CASE("each large picture of a panel becomes a complete file, and the marks of a legend do not")
{
    const std::string html =
        "<svg width=\"14\" height=\"14\"></svg><svg viewBox=\"0 0 300 10\" width=\"300\"><g/></svg>";
    const std::vector<std::string> pictures = pictures_of(html);
    REQUIRE(pictures.size() == 1);
    CHECK(pictures[0].starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 300 10\""));
    CHECK(pictures[0].ends_with("<g/></svg>\n"));
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
