// The shared memory of the probes: its content is recorded, and nothing is written twice.
#include "cpu/topology.hpp"
#include "cpu/workspace.hpp"
#include "ert/base/error.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <set>

using namespace roof;
using namespace roof::cpu;

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

std::uint64_t word(const Slice& slice, std::size_t index)
{
    std::uint64_t value = 0;
    std::memcpy(&value, slice.data() + index * sizeof value, sizeof value);
    return value;
}

int times_written = 0;

void count_writes(std::byte* to, std::size_t from, std::size_t bytes)
{
    ++times_written;
    write_content(to, from, bytes);
}

}  // namespace

TEST_CASE("a slice holds different normal numbers between one and two")
{
    constexpr std::size_t words = 1000;
    Slice slice(words * sizeof(double), "a test", {});
    slice.ensure(write_content, 0, words * sizeof(double));
    std::set<double> values;
    for (std::size_t i = 0; i < words; ++i) {
        const double value = std::bit_cast<double>(word(slice, i));
        CHECK(word(slice, i) == content(i));
        CHECK(value >= 1);
        CHECK(value < 2);
        values.insert(value);
    }
    CHECK(values.size() == words);
}

TEST_CASE("a slice's known content is not written again, and overwritten content is")
{
    Slice slice(4 * piece, "a test", {});
    times_written = 0;
    slice.ensure(count_writes, 0, piece);
    const int once = times_written;
    CHECK(once > 0);
    slice.ensure(count_writes, 0, piece / 2);
    CHECK(times_written == once);
    slice.overwrite(piece - 8, 8);
    slice.ensure(count_writes, 0, piece);
    CHECK(times_written == once + 1);
    slice.ensure(write_content, 0, piece);
    slice.ensure(count_writes, 0, piece);
    CHECK(times_written == 2 * once + 1);
}

TEST_CASE("content depends only on the offset in the slice")
{
    Slice slice(4 * piece, "a test", {});
    slice.ensure(write_content, 3 * piece + 4096, 64);
    const std::size_t index = (3 * piece + 4096) / sizeof(std::uint64_t);
    CHECK(word(slice, index) == content(index));
}

TEST_CASE("overwritten memory holds numbers")
{
    Slice slice(piece, "a test", {});
    slice.overwrite(0, piece);
    CHECK(std::bit_cast<double>(word(slice, 77)) >= 1);
}

TEST_CASE("slices that fit only one by one are an error together")
{
    const auto most_of_it = static_cast<std::size_t>(0.7 * available_memory().value);
    Workspace workspace;
    CHECK_THROWS_AS(workspace.reserve({}, 2, most_of_it), OutOfMemory);
}

TEST_CASE("a workspace keeps slices that are large enough, and replaces the others")
{
    Workspace workspace;
    workspace.reserve({}, 1, 8 * piece);
    std::byte* const first = workspace.slice({}, 0).data();
    workspace.reserve({}, 2, 4 * piece);
    CHECK(workspace.slice({}, 0).data() == first);
    CHECK(workspace.slice({}, 1).data() != first);
    workspace.reserve({}, 1, 64 * piece);
    workspace.slice({}, 0).data()[64 * piece - 1] = std::byte{1};
}

TEST_CASE("each mapping has its own slices")
{
    const Mapping small{Pages::small, std::nullopt};
    Workspace workspace;
    workspace.reserve({}, 1, piece);
    workspace.reserve(small, 1, piece);
    CHECK(workspace.slice({}, 0).data() != workspace.slice(small, 0).data());
}

TEST_CASE("consecutive rounds use different pages within the slice, if it is large enough")
{
    Workspace workspace;
    workspace.reserve({}, 1, 8192);
    const std::size_t size = workspace.slice({}, 0).size();
    const std::size_t places = size / Buffer::huge_page;
    std::set<std::size_t> seen;
    for (int round = 0; round < static_cast<int>(places); ++round) {
        const std::size_t from = workspace.place({}, 1, 8192, round);
        CHECK(from % Buffer::huge_page == 0);
        CHECK(from + 8192 <= size);
        seen.insert(from);
    }
    CHECK(seen.size() == places);
    CHECK(workspace.place({}, 1, size, 7) == 0);
}
