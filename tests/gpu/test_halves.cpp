// Splitting the lines of an L2 into near and far ones, with made-up cycles.
#include "ert/gpu/probes/sides.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace roof::gpu;

namespace {

constexpr int lines = 1024;

/// Line i is far where bit 0 of a mixed number is set; each slice has a distance of its own, up to `spread` cycles more.
std::vector<std::uint32_t> cycles_of(std::uint32_t near, std::uint32_t far, std::uint32_t spread)
{
    std::minstd_rand random(1);
    std::vector<std::uint32_t> cycles;
    for (int i = 0; i < lines; ++i) {
        const bool is_far = (random() >> 8 & 1) != 0;
        cycles.push_back((is_far ? far : near) + static_cast<std::uint32_t>(random()) % (spread + 1));
    }
    return cycles;
}

}  // namespace

TEST_CASE("lines at two distances are split, each line once and on its side")
{
    const auto cycles = cycles_of(3200, 5000, 500);
    const auto halves = halves_of(cycles);
    REQUIRE(halves.has_value());
    CHECK(halves->near.size() + halves->far.size() == lines);
    CHECK(halves->near.size() > lines / 3);
    CHECK(halves->far.size() > lines / 3);
    for (const int line : halves->near) CHECK(cycles[static_cast<std::size_t>(line)] < 4000);
    for (const int line : halves->far) CHECK(cycles[static_cast<std::size_t>(line)] >= 5000);
    CHECK(halves->near_cycles == Approx(3450).epsilon(0.02));
    CHECK(halves->far_cycles == Approx(5250).epsilon(0.02));
}

TEST_CASE("one distance with any spread is not split into two")
{
    CHECK_FALSE(halves_of(cycles_of(3200, 3200, 0)).has_value());
    CHECK_FALSE(halves_of(cycles_of(3200, 3200, 40)).has_value());
    CHECK_FALSE(halves_of(cycles_of(3200, 3200, 2000)).has_value());
    CHECK_FALSE(halves_of(cycles_of(3200, 3300, 500)).has_value());
}

TEST_CASE("a few slow lines are not a far half, and too few lines give no result")
{
    std::vector<std::uint32_t> cycles = cycles_of(3200, 3200, 20);
    for (std::size_t i = 0; i < 40; ++i) cycles[i * 7] = 9000;
    CHECK_FALSE(halves_of(cycles).has_value());
    CHECK_FALSE(halves_of(std::vector<std::uint32_t>{}).has_value());
    CHECK_FALSE(halves_of(std::vector<std::uint32_t>{1}).has_value());
}
