// Decoding of valid, unusual and damaged files.
#include "ert/base/error.hpp"
#include "tests/data/jpeg_files.hpp"
#include "workloads/data/jpeg.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::data;
using namespace roof::test;
using Catch::Contains;

namespace {

void check_plain(const RgbImage& image, Rgb colour)
{
    REQUIRE(image.pixels.size() == 3 * static_cast<std::size_t>(image.width * image.height));
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
        REQUIRE(std::abs(image.pixels[i] - colour[i % 3]) <= 3);
    }
}

}  // namespace

TEST_CASE("a JPEG decodes to its size and colour, at full and reduced size")
{
    const TemporaryFolder folder;
    const auto file = folder.path() / "red.jpg";
    write_plain(file, 100, 60, {200, 40, 20});
    const Jpeg jpeg(file);
    CHECK(jpeg.width() == 100);
    CHECK(jpeg.height() == 60);
    check_plain(jpeg.decode(1), {200, 40, 20});
    const RgbImage small = jpeg.decode(8);
    CHECK(small.width == 13);
    CHECK(small.height == 8);
    check_plain(small, {200, 40, 20});
}

TEST_CASE("grey and CMYK files decode to RGB")
{
    const TemporaryFolder folder;
    write_plain(folder.path() / "grey.jpg", 32, 32, {90, 90, 90}, Ink::grey);
    check_plain(Jpeg(folder.path() / "grey.jpg").decode(1), {90, 90, 90});
    write_plain(folder.path() / "cmyk.jpg", 32, 32, {200, 40, 90}, Ink::cmyk);
    check_plain(Jpeg(folder.path() / "cmyk.jpg").decode(1), {100, 20, 45});
}

TEST_CASE("a file that is missing, empty, text or truncated is an error with a reason")
{
    const TemporaryFolder folder;
    const auto file = folder.path() / "image.jpg";
    CHECK_THROWS_WITH(Jpeg(file), Contains("No such file"));
    write_text(file, "");
    CHECK_THROWS_WITH(Jpeg(file), Contains("is empty"));
    write_text(file, "this is no image");
    CHECK_THROWS_AS(Jpeg(file), Error);

    write_halves(file, 200, 150);
    truncate_file(file, 0.5);
    const Jpeg half(file);
    CHECK_THROWS_AS(half.decode(1), Error);
    CHECK_THROWS_AS(half.decode(8), Error);
    truncate_file(file, 0.1);
    CHECK_THROWS_AS(Jpeg(file), Error);
}

TEST_CASE("a header that declares too many pixels is refused before memory is allocated")
{
    const TemporaryFolder folder;
    const auto file = folder.path() / "huge.jpg";
    // SOI, one quantisation table, and a frame header of 65500 x 65500 with one component.
    std::string bytes{"\xFF\xD8\xFF\xDB\x00\x43\x00", 7};
    bytes += std::string(64, '\x01');
    bytes +=
        std::string{"\xFF\xC0\x00\x0B\x08\xFF\xDC\xFF\xDC\x01\x01\x11\x00\xFF\xDA\x00\x08\x01\x01\x00\x00\x3F\x00", 23};
    write_text(file, bytes);
    CHECK_THROWS_WITH(Jpeg(file), Contains("65500x65500"));
}
