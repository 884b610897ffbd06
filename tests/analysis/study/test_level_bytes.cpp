// The bytes of each memory level: bounds by arithmetic, counters, and what is not known.
#include "analysis/study/study.hpp"
#include "made.hpp"

#include "ert/recording/record_files.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <filesystem>

using namespace roof;
using namespace roof::analysis;

namespace {

/// A step of a network that this build knows, by an implementation whose registers are known.
Measurement known_row(const std::string& implementation = "roof:direct:avx512")
{
    Measurement row = made::row("alexnet");
    row.parts = {made::part("features.0+features.1", "convolution", Phase::forward, 0.0125, 1e9, 2e6, 4e9),
                 made::part("relu1", "relu", Phase::forward, 0.001, 1e6, 8e6, 8e6)};
    row.parts[0].part.implementation = implementation;
    return row;
}

std::vector<Placement> placements_of(const Measurement& row, const std::filesystem::path& folder = {})
{
    Study study = made::study({row});
    find_level_bytes(study.placements, study.results.rows, folder, study.ceilings, study.calibration.machine);
    return study.placements;
}

}  // namespace

TEST_CASE("a product moves at L1 what its registers cannot hold and at memory each operand once")
{
    const std::vector<Placement> all = placements_of(known_row());
    const Placement& layer = all[2];
    REQUIRE(layer.name == "features.0+features.1");
    REQUIRE(layer.moved.size() == 3);
    CHECK(layer.moved[0].low.value == Approx(4 * (1e9 / std::sqrt(9 * 512.0) - 2 * 512 * 2)));
    CHECK(layer.moved[0].high == Bytes{4e9});
    CHECK(layer.moved[2].low == Bytes{2e6});
    CHECK(layer.moved[0].low > layer.moved[1].low);
    for (const LevelBytes& bytes : layer.moved) CHECK(bytes.known == Known::analytic);
}

TEST_CASE("a step and a phase move the sum of their layers")
{
    const std::vector<Placement> all = placements_of(known_row());
    REQUIRE(all[0].scope == Scope::step);
    REQUIRE(all[1].scope == Scope::phase);
    for (const std::size_t whole : {0, 1})
        for (std::size_t level = 0; level < 3; ++level)
            CHECK(all[whole].moved.at(level).low == all[2].moved[level].low + all[3].moved[level].low);
}

TEST_CASE("a product of our own kernels moves what their blocking says, also with Winograd")
{
    Measurement row = known_row("roof:wino_4x3:avx512 + reorder jit:uni");
    row.parts[0].part.work.refetched = {{{524288}, {5e6}}};
    const std::vector<LevelBytes> moved = placements_of(row)[2].moved;
    REQUIRE(moved.size() == 3);
    for (const std::size_t cache : {0, 1}) CHECK(moved[cache].low == Bytes{7e6});
    CHECK(moved[0].high == Bytes{4e9});
    CHECK(moved[2].low == Bytes{2e6});
}

TEST_CASE("bytes of levels are not known for an unknown implementation or one that multiplies less")
{
    for (const char* implementation : {"made", "jit_wino:avx512_core", "fft:avx2"}) {
        const std::vector<Placement> all = placements_of(known_row(implementation));
        CHECK(all[2].moved.empty());
        CHECK(all[0].moved.empty());
        CHECK(all[3].moved.size() == 3);  // the ReLU has no product
    }
}

TEST_CASE("the registers of an implementation follow from its name")
{
    CHECK(registers_of("jit:avx512_core") == Bytes{2048});
    CHECK(registers_of("roof:relu + roof:direct:avx2") == Bytes{512});
    CHECK(registers_of("brgemm:avx512_core_amx") == Bytes{8192 + 2048});
    CHECK(registers_of("ref:any") == Bytes{});
}

TEST_CASE("counted bytes of a level stand in place of its bounds")
{
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "roof-level-bytes";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const Measurement row = known_row();
    const auto count = [](const std::string& metric, double bytes) {
        return CounterRecord{"cpu", CounterScope::phase, "features.0+features.1", "forward", {}, {}, metric, bytes,
                             "byte"};
    };
    const std::array records{count("dram__bytes_read.sum", 2e6), count("dram__bytes_write.sum", 1e6)};
    append_records<CounterRecord>(folder, row.id(), records);
    const std::vector<Placement> all = placements_of(row, folder);
    CHECK(all[2].moved.at(2).low == Bytes{3e6});
    CHECK(all[2].moved.at(2).high == Bytes{3e6});
    CHECK(all[2].moved.at(2).known == Known::counter);
    CHECK(all[2].moved.at(0).known == Known::analytic);
    CHECK(all[0].moved.at(2).known == Known::analytic);  // the ReLU was not counted
    std::filesystem::remove_all(folder);
}
