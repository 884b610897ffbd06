// Reads a folder of generated images with the reader of training images.
#include "ert/base/error.hpp"
#include "tests/data/jpeg_files.hpp"
#include "tools/make_images/folder.hpp"
#include "workloads/data/jpeg.hpp"
#include "workloads/data/source.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::make_images;
using namespace roof::test;

TEST_CASE("a generated folder lists as its classes, and every file decodes to its picture")
{
    const TemporaryFolder folder;
    const FolderCounts counts =
        write_folder({.folder = folder.path() / "new", .classes = 3, .per_class = 2, .seed = 5});
    CHECK(counts.written == 6);
    CHECK(counts.kept == 0);
    const data::ImageList list = data::list_images(folder.path() / "new");
    CHECK(list.classes == std::vector<std::string>{"class_00", "class_01", "class_02"});
    REQUIRE(list.images.size() == 6);
    CHECK(list.images[5].path.filename() == "image_001.jpg");

    const Picture drawn = draw(5, 2, 1);
    const data::RgbImage decoded = data::Jpeg(list.images[5].path).decode(1);
    REQUIRE(decoded.width == drawn.width);
    REQUIRE(decoded.height == drawn.height);
    double difference = 0;
    for (std::size_t i = 0; i < drawn.pixels.size(); ++i) difference += std::abs(drawn.pixels[i] - decoded.pixels[i]);
    CHECK(difference / static_cast<double>(drawn.pixels.size()) < 12);
}

TEST_CASE("existing files are kept and missing ones are added")
{
    const TemporaryFolder folder;
    const auto kept = folder.path() / "class_00" / "image_000.jpg";
    write_text(kept, "mine");
    const FolderCounts counts = write_folder({.folder = folder.path(), .classes = 1, .per_class = 2});
    CHECK(counts.kept == 1);
    CHECK(counts.written == 1);
    CHECK(std::filesystem::file_size(kept) == 4);
}

TEST_CASE("the same numbers give the same picture, and another seed, class or image gives another")
{
    CHECK(draw(1, 2, 3).pixels == draw(1, 2, 3).pixels);
    CHECK(draw(1, 2, 3).pixels != draw(2, 2, 3).pixels);
    CHECK(draw(1, 2, 3).pixels != draw(1, 1, 3).pixels);
    CHECK(draw(1, 2, 3).pixels != draw(1, 2, 4).pixels);
}

TEST_CASE("no classes, no images, and a folder that cannot be created are errors")
{
    const TemporaryFolder folder;
    CHECK_THROWS_AS(write_folder({.folder = folder.path(), .classes = 0}), InputError);
    CHECK_THROWS_AS(write_folder({.folder = folder.path(), .per_class = 0}), InputError);
    write_text(folder.path() / "file", "");
    CHECK_THROWS_AS(write_folder({.folder = folder.path() / "file"}), Error);
}
