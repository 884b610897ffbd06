#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using namespace roof;

TEST_CASE("a part is found beside the program, and else in lib/roof of the same prefix")
{
    const fakes::TemporaryFolder prefix;
    const std::filesystem::path& root = prefix.path();
    std::filesystem::create_directories(root / "bin");
    std::filesystem::create_directories(root / "lib/roof");
    std::ofstream(root / "lib/roof/part.so") << 'x';
    CHECK(part_file("part.so", root / "bin") == root / "lib/roof/part.so");
    std::ofstream(root / "bin/part.so") << 'x';
    CHECK(part_file("part.so", root / "bin") == root / "bin/part.so");
}

TEST_CASE("a part that is in neither place is named in one sentence with both")
{
    const std::filesystem::path folder = "/nowhere/bin";
    CHECK_THROWS_WITH(part_file("part.so", folder),
                      "part.so is missing: it is neither in /nowhere/bin nor in /nowhere/lib/roof");
    CHECK_THROWS_AS(part_file("part.so", folder), Unsupported);
}
