#include "analysis/frame.hpp"
#include "analysis/terminal.hpp"
#include "ert/base/text.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::analysis;

namespace {

std::size_t columns_of(const std::string& line)
{
    return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// The drawing without the legend.
std::string drawing(const std::string& text)
{
    return text.substr(0, text.find("arithmetic intensity"));
}

}  // namespace

TEST_CASE("the frame holds every ridge and comes from the ceilings alone")
{
    const std::optional<Frame> frame = frame_of(made::ceilings());
    REQUIRE(frame);
    CHECK(frame->intensity_low == Approx(0.01));   // fp64 under L1: 0.125
    CHECK(frame->intensity_high == Approx(1000));  // fp32 under DRAM: 10
    CHECK(frame->rate_low == Approx(1e8));
    CHECK(frame->rate_high == Approx(1e12));
    CHECK_FALSE(frame_of({}));
}

TEST_CASE("a slower precision widens the frame downwards, a slower level to the right")
{
    Ceilings more = made::ceilings();
    more.all.push_back(made::compute("int8", 2, 1e9));  // ridge under L1: 0.0025
    CHECK(frame_of(more)->intensity_low == Approx(1e-4));
    more.all.push_back(made::bandwidth("link", 2, 1e8));  // ridge under fp32: 1000
    CHECK(frame_of(more)->intensity_high == Approx(1e5));
}

TEST_CASE("two runs on one machine have the same axes, however fast they were")
{
    Measurement fast = made::row();
    for (PartMeasurement& part : fast.parts) part.seconds = made::about<Seconds>(1e-5);
    fast.seconds = made::about<Seconds>(1e-4);
    const auto axis = [](const std::string& text) {
        const std::vector<std::string> lines = split(text, '\n');
        return *std::find_if(lines.begin(), lines.end(),
                             [](const std::string& line) { return line.find("0.01") != std::string::npos; });
    };
    CHECK(axis(terminal_roofline(made::study({fast}), 80, true)) ==
          axis(terminal_roofline(made::study({made::row()}), 80, true)));
}

TEST_CASE("the plain drawing is ASCII and no wider than asked for")
{
    const std::string text = drawing(terminal_roofline(made::study({made::row()}), 72, true));
    CHECK(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; }));
    for (const std::string& line : split(text, '\n')) CHECK(line.size() <= 72);
}

TEST_CASE("the braille drawing is no wider than asked for")
{
    const std::string text = drawing(terminal_roofline(made::study({made::row()}), 100, false));
    CHECK(text.find("\xE2\xA0") != std::string::npos);
    for (const std::string& line : split(text, '\n')) CHECK(columns_of(line) <= 100);
}

TEST_CASE("every roof is named and every step has a letter with a legend")
{
    const std::string text = terminal_roofline(made::study({made::row("net", 8), made::row("net", 16)}), 100, true);
    for (const char* name : {"L1", "L2", "DRAM", "fp32", "fp64"}) CHECK(drawing(text).find(name) != std::string::npos);
    CHECK(text.find("  A net batch 8 step: ") != std::string::npos);
    CHECK(text.find("  B net batch 16 step: ") != std::string::npos);
    CHECK(text.find("DRAM 10.0 GB/s") != std::string::npos);
}

TEST_CASE("a terminal too narrow to draw in gets the narrowest drawing")
{
    CHECK(terminal_roofline(made::study({made::row()}), 1, true) ==
          terminal_roofline(made::study({made::row()}), 40, true));
}

TEST_CASE("without ceilings nothing is drawn and the text says why")
{
    CHECK(terminal_roofline(made::study({made::row()}, {}), 80, true).find("no calibration") != std::string::npos);
    Ceilings only_compute;
    only_compute.all = {made::compute("fp32", 2, 1e11)};
    CHECK(terminal_roofline(made::study({made::row()}, only_compute), 80, true).find("one is missing") !=
          std::string::npos);
}
