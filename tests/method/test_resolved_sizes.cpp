// The working sets that a load sweep selects for the other operations.
#include "ert/method/plan/scheduler.hpp"
#include "tests/method/sweeps.hpp"

using namespace roof;
using namespace roof::tests;

namespace {

using Sizes = std::vector<long long>;

Sizes found_in(const Shape& shape, const std::string& word = "levels")
{
    const std::vector<Measurement> rows = sweep(shape);
    return resolve_sizes(rows, machine()).at({"cpu", 1, word});
}

bool holds(const Sizes& sizes, double bytes)
{
    return std::ranges::find(sizes, std::llround(bytes)) != sizes.end();
}

long long between(const Sizes& sizes, double from, double to)
{
    return std::ranges::count_if(
        sizes, [=](long long size) { return from < static_cast<double>(size) && static_cast<double>(size) < to; });
}

/// Like `shape`, but faster for the sets of one size.
Shape faster_at(const Shape& shape, double size, double factor)
{
    return [=](double bytes) { return shape(bytes) * (bytes == size ? factor : 1); };
}

}  // namespace

TEST_CASE("a cache is measured at its three largest sizes and at the fastest pair, memory at its largest")
{
    const Shape shape = staircase(three_caches, 20e9);
    const Sizes sizes = found_in(faster_at(faster_at(faster_at(shape, 8 * KiB, 1.1), 12 * KiB, 1.1), 128 * KiB, 1.1));
    for (const double size :
         {8 * KiB, 12 * KiB, 24 * KiB, 32 * KiB, 48 * KiB, 768 * KiB, 1 * MiB, 16 * MiB, 24 * MiB, 32 * MiB})
        CHECK(holds(sizes, size));
    CHECK(between(sizes, 12 * KiB, 24 * KiB) == 0);
    CHECK(between(sizes, 48 * KiB, 768 * KiB) == 0);  // of these L1 may serve a tenth and more
    CHECK(holds(sizes, 768 * MiB));
    CHECK(between(sizes, 64 * MiB, 1024 * MiB) == 1);
}

TEST_CASE("one fast size alone is not measured again")
{
    const Sizes sizes = found_in(faster_at(staircase(three_caches, 20e9), 192 * KiB, 1.15));
    CHECK(between(sizes, 100 * KiB, 512 * KiB) <= 1);
}

TEST_CASE("`memory` is the size of the last level")
{
    const Sizes sizes = found_in(staircase(three_caches, 20e9), "memory");
    CHECK(sizes == Sizes{768LL << 20});
}

TEST_CASE("the fastest size of a level is the first of its fastest pair")
{
    const Sizes sizes =
        found_in(faster_at(faster_at(staircase(three_caches, 20e9), 16 * MiB, 1.1), 24 * MiB, 1.1), "fastest");
    CHECK(holds(sizes, 16 * MiB));
    CHECK(sizes.size() == 4);
}

TEST_CASE("edges are two sizes between a level's last and the next level's first")
{
    const Sizes sizes = found_in(staircase(three_caches, 20e9), "edges");
    CHECK(between(sizes, 48 * KiB, 64 * KiB) == 2);
    CHECK(between(sizes, 1 * MiB, 1.5 * MiB) == 2);
    for (const long long size : sizes) CHECK(size % 4096 == 0);
}

TEST_CASE(
    "where undisturbed loads still fall at the end of a sweep, it goes on for two octaves, within half of the memory")
{
    Machine large = machine();
    const auto edges = [&large](double capacity, double available, const std::string& disturbance = "") {
        large.devices.front().memory_available = Bytes{available};
        std::vector<Measurement> rows = sweep(staircase({{1 * MiB, 200e9}, {capacity, 100e9}}, 20e9));
        for (Measurement& row : rows)
            row.samples.assign(3, {.seconds = row.seconds.median, .disturbance = disturbance});
        return resolve_sizes(rows, large).at({"cpu", 1, "edges"});
    };
    for (const double size : {1536 * MiB, 3072 * MiB}) {
        CHECK(holds(edges(512 * MiB, 7e9), size));
        CHECK_FALSE(holds(edges(128 * MiB, 7e9), size));
        CHECK_FALSE(holds(edges(512 * MiB, 7e9, "a core was shared"), size));
    }
    CHECK(holds(edges(512 * MiB, 4e9), 1536 * MiB));
    CHECK_FALSE(holds(edges(512 * MiB, 4e9), 3072 * MiB));
}
