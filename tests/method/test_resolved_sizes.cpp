// The working sets that a load sweep selects for the other operations.
#include "ert/method/plan/resolved_sizes.hpp"
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

TEST_CASE("a cache is measured at two sizes that nearly fill it and one just above, and L2 also almost full")
{
    const Sizes sizes = found_in(staircase(three_caches, 20e9));
    CHECK(holds(sizes, 24 * KiB));
    CHECK(holds(sizes, 32 * KiB));
    CHECK(between(sizes, 32 * KiB, 48 * KiB) == 1);
    // 512 KiB is replaced by the almost full size.
    CHECK_FALSE(holds(sizes, 512 * KiB));
    CHECK(holds(sizes, 768 * KiB));
    CHECK(between(sizes, 768 * KiB, 1 * MiB) == 2);
    CHECK(holds(sizes, 1 * MiB));
    CHECK(holds(sizes, 16 * MiB));
    CHECK(holds(sizes, 24 * MiB));
    CHECK(between(sizes, 24 * MiB, 32 * MiB) == 1);
    CHECK(between(sizes, 0, 64 * MiB) == 10);
    // Memory is measured only at the largest size.
    CHECK(holds(sizes, 768 * MiB));
    CHECK(sizes.size() == 11);
}

TEST_CASE("`memory` is the size of the last level")
{
    const Sizes sizes = found_in(staircase(three_caches, 20e9), "memory");
    CHECK(sizes == Sizes{768LL << 20});
}

TEST_CASE("a size with faster loads than the nearly full level is measured too, with its neighbour")
{
    const Shape shape = staircase({{48 * KiB, 450e9}, {2 * MiB, 200e9}, {64 * MiB, 100e9}}, 20e9);
    const Sizes plain = found_in(shape);
    CHECK_FALSE(holds(plain, 768 * KiB));
    const Sizes sizes = found_in(faster_at(shape, 768 * KiB, 1.15));
    CHECK(holds(sizes, 768 * KiB));
    CHECK(between(sizes, 768 * KiB, 1 * MiB) == 1);
    CHECK(sizes.size() == plain.size() + 2);
}

TEST_CASE("sizes that are only slightly faster, or partly in the previous level, are not measured")
{
    const Shape shape = staircase({{48 * KiB, 450e9}, {2 * MiB, 200e9}, {64 * MiB, 100e9}}, 20e9);
    const Sizes plain = found_in(shape);
    CHECK(found_in(faster_at(shape, 768 * KiB, 1.02)) == plain);
    CHECK(found_in(faster_at(shape, 128 * KiB, 1.15)) == plain);
}

TEST_CASE("a cache is not measured at sizes where its loads become slower")
{
    const Shape level = staircase({{48 * KiB, 450e9}, {1 * MiB, 200e9}, {32 * MiB, 100e9}}, 20e9);
    const Shape fading = [=](double bytes) { return level(bytes) * (bytes == 1 * MiB ? 0.969 : 1); };
    CHECK(holds(found_in(level), 1 * MiB));
    CHECK(between(found_in(level), 512 * KiB, 768 * KiB) == 0);
    CHECK_FALSE(holds(found_in(fading), 1 * MiB));
    CHECK(between(found_in(fading), 512 * KiB, 768 * KiB) == 1);
}
