// Memory for the probes: aligned, filled, and refused with the numbers when there is not enough.
#include "cpu/buffer.hpp"
#include "cpu/topology.hpp"
#include "ert/base/error.hpp"
#include "ert/method/available_memory.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace roof;
using namespace roof::cpu;

TEST_CASE("a buffer starts on a huge page and holds what was asked for")
{
    const HugeBuffer buffer(5'000'000, "a test");
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % (2 << 20) == 0);
    CHECK(buffer.size() >= 5'000'000);
    buffer.data()[buffer.size() - 1] = std::byte{1};
}

TEST_CASE("more memory than there is becomes OutOfMemory with both numbers")
{
    const double available = available_memory().value;
    REQUIRE(available > 0);
    try {
        const HugeBuffer buffer(static_cast<std::size_t>(2 * available), "a test");
        FAIL("the buffer was granted");
    } catch (const OutOfMemory& error) {
        CHECK(error.wanted.value >= 1.9 * available);
        CHECK(error.available.value > 0);
        CHECK(error.available < error.wanted);
    }
}

TEST_CASE("slices that fit one by one but not together are refused")
{
    const auto most_of_it = static_cast<std::size_t>(0.7 * available_memory().value);
    Workspace workspace;
    CHECK_THROWS_AS(workspace.reserve(2, most_of_it), OutOfMemory);
}

TEST_CASE("a workspace keeps slices that are large enough, and replaces those that are not")
{
    Workspace workspace;
    workspace.reserve(1, 8 << 20);
    std::byte* const first = workspace.slice(0);
    workspace.reserve(2, 4 << 20);
    CHECK(workspace.slice(0) == first);
    CHECK(workspace.slice(1) != first);
    workspace.reserve(1, 64 << 20);
    workspace.slice(0)[(64 << 20) - 1] = std::byte{1};
}

TEST_CASE("a slice is filled with different normal numbers between one and two")
{
    const PinnedTeam team(read_layout().processors);
    constexpr std::size_t words = 1000;
    Workspace workspace;
    workspace.reserve(team.size(), words * sizeof(double));
    workspace.fill(team, words * sizeof(double));
    std::set<double> values;
    for (std::size_t i = 0; i < words; ++i) {
        const double value = reinterpret_cast<const double*>(workspace.slice(team.size() - 1))[i];
        CHECK(value == std::bit_cast<double>(content(i)));
        CHECK(value >= 1);
        CHECK(value < 2);
        values.insert(value);
    }
    CHECK(values.size() == words);
}
