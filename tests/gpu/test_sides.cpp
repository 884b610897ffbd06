// Finding the two sides of an L2 from made-up cycles of every multiprocessor's loads.
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/partition.hpp"
#include "ert/gpu/probes/sides.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

using namespace roof;
using namespace roof::gpu;

namespace {

struct Chip {
    int multiprocessors = 132;
    int lines = 1024;
    int on_far_side = 60;  ///< the last so many multiprocessors
    std::uint32_t near = 3200;
    std::uint32_t far = 5000;
    std::uint32_t noise = 300;  ///< cycles more, at most, of each load
};

bool is_line_far(int line)
{
    return (static_cast<std::uint32_t>(line) * 2654435761U >> 16 & 1) != 0;
}

std::vector<std::uint32_t> cycles_of(const Chip& chip)
{
    std::minstd_rand random(7);
    std::vector<std::uint32_t> cycles;
    for (int m = 0; m < chip.multiprocessors; ++m) {
        const bool is_on_far_side = m >= chip.multiprocessors - chip.on_far_side;
        for (int line = 0; line < chip.lines; ++line) {
            const bool is_far = is_line_far(line) != is_on_far_side;
            cycles.push_back((is_far ? chip.far : chip.near) +
                             static_cast<std::uint32_t>(random() >> 4) % (chip.noise + 1));
        }
    }
    return cycles;
}

Sides sides_of(const Chip& chip)
{
    return gpu::sides_of(cycles_of(chip), static_cast<std::size_t>(chip.lines));
}

}  // namespace

TEST_CASE("the side of each multiprocessor and each line of an L2 with two partitions is found")
{
    const Chip chip =
        GENERATE(Chip{}, Chip{.multiprocessors = 107, .lines = 1001, .on_far_side = 53},
                 Chip{.multiprocessors = 2, .on_far_side = 1}, Chip{.on_far_side = 1}, Chip{.noise = 900});
    const Sides sides = sides_of(chip);
    for (int m = 0; m < chip.multiprocessors; ++m) {
        const bool is_far = m >= chip.multiprocessors - chip.on_far_side;
        CHECK(sides.of_multiprocessors[static_cast<std::size_t>(m)] == (is_far ? 1 : 0));
    }
    CHECK(sides.lines[0].size() + sides.lines[1].size() == static_cast<std::size_t>(chip.lines));
    CHECK(std::ranges::none_of(sides.lines[0], is_line_far));
    CHECK(std::ranges::all_of(sides.lines[1], is_line_far));
    CHECK(sides.near_cycles == Approx(chip.near + chip.noise / 2.0).epsilon(0.01));
    CHECK(sides.far_cycles == Approx(chip.far + chip.noise / 2.0).epsilon(0.01));
}

TEST_CASE("an L2 with one partition has no sides, the error states how many multiprocessors saw two distances")
{
    CHECK_THROWS_WITH(sides_of(Chip{.far = 3200}), Catch::Contains("only 0 of 132 multiprocessors"));
    CHECK_THROWS_AS(sides_of(Chip{.far = 3300, .noise = 900}), Unsupported);
}

TEST_CASE("there are no sides if the same lines are near all multiprocessors")
{
    CHECK_THROWS_WITH(sides_of(Chip{.on_far_side = 0}), Catch::Contains("near to all multiprocessors"));
}

TEST_CASE("there are no sides if the multiprocessors do not agree on the lines")
{
    const Chip chip{.multiprocessors = 8, .on_far_side = 4};
    std::vector<std::uint32_t> cycles = cycles_of(chip);
    for (int m = 0; m < chip.multiprocessors; ++m) {
        const auto first = cycles.begin() + m * chip.lines;
        std::rotate(first, first + 37 * m, first + chip.lines);
    }
    CHECK_THROWS_WITH(gpu::sides_of(cycles, 1024), Catch::Contains("the same lines together"));
}

TEST_CASE("an unmeasured multiprocessor has no side, a disturbed one gets the side of the lines near it")
{
    const Chip chip{.multiprocessors = 20, .on_far_side = 10};
    std::vector<std::uint32_t> cycles = cycles_of(chip);
    cycles[3 * 1024 + 5] = 0;
    std::minstd_rand random(1);
    for (int line = 0; line < chip.lines; ++line)
        cycles[static_cast<std::size_t>(12 * chip.lines + line)] += static_cast<std::uint32_t>(random() >> 4) % 6000;
    const Sides sides = gpu::sides_of(cycles, 1024);
    CHECK(sides.of_multiprocessors[3] == -1);
    CHECK(sides.of_multiprocessors[12] == 1);
    CHECK(std::ranges::count(sides.of_multiprocessors, 0) == 9);
}

TEST_CASE("a line on which the multiprocessors disagree is on neither side")
{
    const Chip chip{.multiprocessors = 20, .on_far_side = 10};
    std::vector<std::uint32_t> cycles = cycles_of(chip);
    for (std::size_t m = 0; m < 20; ++m) cycles[m * 1024 + 9] = m % 2 == 0 ? 3200 : 5000;
    const Sides sides = gpu::sides_of(cycles, 1024);
    for (const auto& lines : sides.lines) CHECK(std::ranges::find(lines, 9) == lines.end());
    CHECK(sides.lines[0].size() + sides.lines[1].size() == 1023);
}

TEST_CASE("a list is spread evenly over the lines of a side, a side with too few lines is unsupported")
{
    const std::vector<int> lines{2, 3, 5, 7, 11, 13, 17};
    CHECK(list_of(lines, 3) == std::vector<std::uint32_t>{2, 5, 11});
    CHECK(list_of(lines, 7).size() == 7);
    CHECK_THROWS_WITH(list_of(lines, 8), Catch::Contains("only 7 of the lines"));
}

TEST_CASE("the threads of a block load each part of each line of its list once per pass")
{
    for (const unsigned block : {0U, 1U, 131U}) {
        std::multiset<unsigned> taken;
        for (unsigned load = 0; load < partition_lines / lines_at_once; ++load) {
            for (unsigned thread = 0; thread < partition_threads; ++thread)
                taken.insert(place_in_list(block, load, thread) * threads_of_line + thread % threads_of_line);
        }
        CHECK(taken.size() == partition_lines * threads_of_line);
        CHECK(std::set<unsigned>(taken.begin(), taken.end()).size() == taken.size());
    }
}
