// Picture files are complete, and have no variables, which only browsers resolve.
#include "../fakes/temporary_folder.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/svg.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <set>

using namespace roof;
using namespace roof::analysis;
using made::holds;

TEST_CASE("the style sheet of a picture has no variables, dark theme or print rules")
{
    const std::string sheet = picture_style_sheet();
    CHECK(sheet.find("var(") == std::string::npos);
    CHECK(sheet.find("@media") == std::string::npos);
    CHECK(sheet.find(".forward{color:#0072b2}") != std::string::npos);
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
    const auto none = [](double) { return ""; };
    CHECK(ticks(1, 1000, 10, none).size() == 4);
    CHECK(ticks(1, 1000, 10, none).back().at == Approx(1000));
    CHECK(ticks(1e-320, 1e300, 10, none).size() <= 61);
    CHECK(ticks(0, 1, 10, none).empty());
    CHECK(ticks(1, std::numeric_limits<double>::infinity(), 10, none).empty());
    CHECK(ticks(1, 10, 1, none).empty());
    CHECK(decade_ticks(0, 10, none).empty());
}

namespace {

/// 300 by 300 pixels: x and y from 1 to 100, so a decade of x is 88 pixels, one of y is 102.
Figure two_decades()
{
    Figure figure{.title = "made", .width = 300, .height = 300};
    const auto text = [](double at) { return std::to_string(static_cast<int>(at)); };
    figure.x = {"x", {1, 100}, decade_ticks(1, 100, text), false};
    figure.y = {"y", {1, 100}, decade_ticks(1, 100, text), false};
    return figure;
}

Mark mark_at(double x, double y)
{
    return {.key = "k", .x = {x, x, x}, .y = {y, y, y}, .look = "forward dot", .radius = 4};
}

}  // namespace

TEST_CASE("a mark stands where its data are, and one outside the frame is an arrow at its edge")
{
    Figure figure = two_decades();
    figure.marks = {mark_at(10, 10), mark_at(1000, 10), mark_at(2000, 10)};
    const std::string svg = draw(figure, "clip").str();
    CHECK(holds(svg, "data-x=\"10\" data-y=\"10\"><circle class=\"shape\" cx=\"184\" cy=\"142\" r=\"4\"/>"));
    CHECK(holds(svg,
                "forward dot outside\" data-key=\"k\" data-level=\"\" data-x=\"1000\" data-y=\"10\"><polygon "
                "class=\"arrow\" points=\"272,142 263,147 263,137\"/>"));
    CHECK(holds(svg, ">2</text>"));  // two arrows at one place
}

TEST_CASE("a roof ends where another one takes over")
{
    Figure figure = two_decades();
    figure.roofs = {{"DRAM", "DRAM", "", true, {2, 2, 2}}, {"fp32", "fp32", "", false, {20, 20, 20}}};
    const auto [from, to] = figure.line_of(figure.roofs[0], 2, figure.x.frame);
    CHECK(from == std::pair{1.0, 2.0});
    CHECK(to == std::pair{10.0, 20.0});
    CHECK(figure.line_of(figure.roofs[1], 20, figure.x.frame).first == std::pair{10.0, 20.0});
    figure.roofs[1].extra = true;
    CHECK(figure.line_of(figure.roofs[0], 2, figure.x.frame).second == std::pair{100.0, 200.0});
}

TEST_CASE("forty series differ in shape or colour")
{
    std::set<std::pair<Shape, std::string>> seen;
    for (std::size_t i = 0; i < 40; ++i) seen.insert({series_entry(i, "").shape, series_entry(i, "").look});
    CHECK(seen.size() == 40);
}

TEST_CASE("layers are numbered by headroom, in the plot and in the table below it")
{
    Figure figure = two_decades();
    figure.marks = {mark_at(10, 10), mark_at(80, 80)};
    figure.marks[0].name = "conv1 fwd";
    figure.marks[0].rank = 1;
    figure.marks[1].name = "net b8";
    figure.marks[1].rank = 0;
    figure.table = {{"", "", "time"}, {"1", "conv1 fwd", "3.00 ms"}};
    const Svg svg = draw(figure, "clip");
    CHECK(holds(svg.str(), "<g class=\"of\" data-of=\"k\"><text class=\"halo middle\""));
    CHECK(holds(svg.str(), ">1 conv1 fwd</text>"));
    CHECK(holds(svg.str(), ">net b8</text>"));
    CHECK(holds(svg.str(), "class=\"cell\" x=\"8\" y=\"337\">1</text>"));  // 300, 20 of air, 17 of a line
    CHECK(holds(svg.str(), ">3.00 ms</text>"));
    CHECK(svg.str().find("under") == std::string::npos);
    CHECK(holds(svg.file(""), "<text class=\"under halo middle\""));
}

TEST_CASE("of many layers five have their names, five more their numbers alone")
{
    Figure figure = two_decades();
    figure.width = 900;
    for (int i = 1; i <= 12; ++i) {
        figure.marks.push_back(mark_at(1.3 * std::pow(1.4, i), 30));
        figure.marks.back().key = std::to_string(i);
        figure.marks.back().radius = 2;
        figure.marks.back().name = "n";
        figure.marks.back().rank = i;
    }
    const std::string svg = draw(figure, "clip").str();
    CHECK(holds(svg, ">5 n</text>"));
    CHECK_FALSE(holds(svg, ">6 n</text>"));
    CHECK(holds(svg, ">10</text>"));
    CHECK_FALSE(holds(svg, ">11</text>"));
}
