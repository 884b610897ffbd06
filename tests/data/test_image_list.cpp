// Files and labels of a folder, and input errors.
#include "ert/base/error.hpp"
#include "tests/data/jpeg_files.hpp"
#include "workloads/data/source.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::data;
using namespace roof::test;
using Catch::Contains;

TEST_CASE("classes are numbered alphabetically and files are sorted, for any case of the extension")
{
    const TemporaryFolder folder;
    write_text(folder.path() / "zebra" / "2.jpg", "");
    write_text(folder.path() / "zebra" / "1.JPEG", "");
    write_text(folder.path() / "ant" / "9.JPG", "");
    write_text(folder.path() / "ant" / "notes.txt", "");
    write_text(folder.path() / ".cache" / "3.jpg", "");
    write_text(folder.path() / "README.md", "");
    const ImageList list = list_images(folder.path());
    CHECK(list.classes == std::vector<std::string>{"ant", "zebra"});
    REQUIRE(list.images.size() == 3);
    CHECK(list.images[0].path.filename() == "9.JPG");
    CHECK(list.images[0].label == 0);
    CHECK(list.images[1].path.filename() == "1.JPEG");
    CHECK(list.images[2].path.filename() == "2.jpg");
    CHECK(list.images[2].label == 1);
}

TEST_CASE("a folder that is missing, a file, empty, without classes or without images is an error with the reason")
{
    const TemporaryFolder folder;
    const auto list = [&](const std::string& name) { return list_images(folder.path() / name); };
    CHECK_THROWS_AS(list("missing"), InputError);
    CHECK_THROWS_WITH(list("missing"), Contains("missing") && Contains("synthetic") && Contains("hashed"));

    write_text(folder.path() / "file", "x");
    CHECK_THROWS_AS(list("file"), InputError);
    CHECK_THROWS_WITH(list("file"), Contains("is a file") && Contains("<class>/<name>.jpg"));

    std::filesystem::create_directories(folder.path() / "empty");
    CHECK_THROWS_AS(list("empty"), InputError);
    CHECK_THROWS_WITH(list("empty"), Contains("is empty"));

    write_text(folder.path() / "loose" / "1.jpg", "");
    CHECK_THROWS_WITH(list("loose"), Contains("holds images but no class folders"));

    write_text(folder.path() / "other" / "notes.txt", "");
    CHECK_THROWS_WITH(list("other"), Contains("has no class folders"));

    write_text(folder.path() / "bare" / "ant" / "notes.txt", "");
    CHECK_THROWS_AS(list("bare"), InputError);
    CHECK_THROWS_WITH(list("bare"), Contains("no .jpg"));
}
