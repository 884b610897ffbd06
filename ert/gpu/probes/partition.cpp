// Bench "partition" of a GPU: the rate at which all multiprocessors load from the partition of the L2 that is near
// each, and from the far one, where there are two.
//
// Launched    first one thread on each multiprocessor, which times each of 8192 lines by itself, past the L1. That
//             tells the side of each multiprocessor and of each line. Then blocks on all multiprocessors, which load
//             2048 lines of their own side, or of the other, again and again: each block all of them, or, on the paths with `:apart`,
//             64 of its own, which every 32nd block has too.
// Saturates   the L2's slices; with far lines the link between its partitions.
// Bytes       those of the lines loaded. The list of lines is in shared memory. Reading it costs 8 KiB of the L2's
//             traffic per block and launch, which is not counted.
// Time        device events; the kernel itself reads the clock.
// Falsified   if a block's sum is not that of its side's lines on the host. A launch with a block on a multiprocessor
//             whose side is unknown is disturbed. Where there are no two sides the point is unsupported, with the
//             reason.
#include "ert/gpu/kernels/partition.hpp"
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/l2_lines.hpp"
#include "ert/gpu/kernels/stream.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/sides.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <set>

namespace roof::gpu {

namespace {

static_assert(pool_line == partition_line && partition_lines <= pool_lines / 4);

constexpr long long max_passes = 1 << 20;
constexpr int blocks_of_multiprocessor = 8;
constexpr double pass_bytes = 1.0 * partition_lines * partition_line;  ///< of a block

/// The sum, modulo 2^32, of the words of these lines of the pool as Arrays fills them.
std::uint32_t sum_of_lines(std::span<const std::uint32_t> lines)
{
    constexpr std::size_t words = partition_line / sizeof(float);
    std::uint32_t sum = 0;
    for (const std::size_t line : lines) {
        for (std::size_t i = 0; i < words; ++i)
            sum += std::bit_cast<std::uint32_t>(expected_word(StreamOperation::load, line * words + i));
    }
    return sum;
}

class PartitionSubject final : public TunedSubject {
  public:
    explicit PartitionSubject(const GpuPoint& at)
        : TunedSubject(at),
          is_far_(at.point.text("path").starts_with("l2_far")),
          is_apart_(at.point.text("path").ends_with(":apart")),
          multiprocessors_(multiprocessors_of(at.device)),
          max_blocks_(multiprocessors_ * std::max(1, resident_partition_blocks())),
          lines_(pool_lines * pool_line, "lines in the L2"),
          lists_(2 * partition_lines, "lists of lines"),
          sides_(static_cast<std::size_t>(multiprocessors_), "sides of multiprocessors"),
          sums_(static_cast<std::size_t>(max_blocks_) * partition_threads, "sums of lines"),
          block_sides_(static_cast<std::size_t>(max_blocks_), "sides of blocks")
    {
        const Sides sides = sides_of(time_all_lines(), pool_lines);
        write_lists(sides);
        enqueue_fill(lines_.data(), lines_.size() / vector_bytes, 0, 0, stream().get());
        const auto on_side = [&](int side) {
            return std::to_string(std::ranges::count(sides.of_multiprocessors, side));
        };
        std::vector<Variant> variants;
        std::vector<int> blocks;
        const int most = max_blocks_ / multiprocessors_;
        for (const int each : std::set<int>{1, std::max(1, most / 2), most}) {
            blocks.push_back(each * multiprocessors_);
            variants.push_back({std::to_string(each * partition_threads) + " threads per multiprocessor; " +
                                    on_side(0) + " multiprocessors on one side, " + on_side(1) + " on the other",
                                work_of_bytes(blocks.back() * pass_bytes),
                                [this, count = blocks.back()](long long passes) { enqueue(count, passes); }});
        }
        blocks_ = static_cast<std::size_t>(blocks[settle_on_fastest(variants, max_passes)]);
    }

    void launch(Trace& trace) override
    {
        TunedSubject::launch(trace);
        const std::vector<int> block_sides = block_sides_.read(0, blocks_);
        if (std::ranges::find(block_sides, -1) != block_sides.end())
            trace.disturbed("a block ran on a multiprocessor whose side is not known");
    }

    void check() override
    {
        constexpr std::uint32_t passes = 3;
        const CurrentDevice current(stream().id());
        run(passes);
        const std::vector<int> block_sides = block_sides_.read(0, blocks_);
        for (std::size_t block = 0; block < blocks_; ++block) {
            const std::vector<std::uint32_t> found = sums_.read(block * partition_threads, partition_threads);
            const auto side = static_cast<std::size_t>(std::max(0, block_sides[block]));
            const std::size_t list = is_far_ && block_sides[block] >= 0 ? 1 - side : side;
            if (std::accumulate(found.begin(), found.end(), 0U) != passes * expected_sum(list, block))
                throw Error("the sum of block " + std::to_string(block) + " is not that of its side's lines");
        }
    }

    Bytes memory() const override { return {static_cast<double>(lines_.bytes() + sums_.bytes())}; }

  private:
    /// [multiprocessor][line], 0 of a multiprocessor on which no block ran.
    std::vector<std::uint32_t> time_all_lines()
    {
        std::vector<const std::byte*> image(lines_.size() / sizeof(const std::byte*), nullptr);
        for (std::size_t line = 0; line < pool_lines; ++line)
            image[line * pool_line / sizeof(const std::byte*)] = lines_.data() + line * pool_line;
        lines_.write(std::as_bytes(std::span(image)));
        const auto count = static_cast<std::size_t>(multiprocessors_);
        const Buffer<std::uint32_t> cycles(count * pool_lines, "cycles of each line");
        Buffer<unsigned> last_numbers(count, "the number of a launch");
        last_numbers.write(std::vector<unsigned>(count, 0));
        unsigned number = 0;
        stream().settle([&] {
            enqueue_pool_distances(
                {last_numbers.data(), ++number, lines_.data(), cycles.data(), static_cast<unsigned>(multiprocessors_),
                 blocks_of_multiprocessor * multiprocessors_},
                stream().get());
        });
        std::vector<std::uint32_t> found = cycles.read(0, cycles.size());
        const std::vector<unsigned> numbers = last_numbers.read(0, count);
        for (std::size_t i = 0; i < count; ++i) {
            if (numbers[i] != number)
                std::fill_n(found.begin() + static_cast<std::ptrdiff_t>(i * pool_lines), pool_lines, 0U);
        }
        return found;
    }

    /// Throws Unsupported where a side has too few lines.
    void write_lists(const Sides& sides)
    {
        std::vector<std::uint32_t> lists;
        for (std::size_t side = 0; side < 2; ++side) {
            const std::vector<std::uint32_t> list = list_of(sides.lines[side], partition_lines);
            for (std::size_t group = 0; group < partition_groups; ++group)
                group_sums_[side].push_back(
                    sum_of_lines(std::span(list).subspan(group * lines_at_once, lines_at_once)));
            lists.insert(lists.end(), list.begin(), list.end());
        }
        lists_.write(lists);
        sides_.write(sides.of_multiprocessors);
    }

    /// Of the words that a block loads in a pass, modulo 2^32.
    std::uint32_t expected_sum(std::size_t list, std::size_t block) const
    {
        const std::vector<std::uint32_t>& sums = group_sums_[list];
        if (is_apart_) return partition_groups * sums[block % partition_groups];
        return std::accumulate(sums.begin(), sums.end(), 0U);
    }

    void enqueue(int blocks, long long passes) const
    {
        enqueue_partition({.lines = lines_.data(),
                           .lists = lists_.data(),
                           .sides = sides_.data(),
                           .multiprocessors = static_cast<unsigned>(multiprocessors_),
                           .is_far = is_far_,
                           .is_apart = is_apart_,
                           .sums = sums_.data(),
                           .block_sides = block_sides_.data(),
                           .reading = stream().reading(),
                           .blocks = blocks,
                           .passes = static_cast<int>(passes)},
                          stream().get());
    }

    bool is_far_;
    bool is_apart_;
    int multiprocessors_;
    int max_blocks_;
    Buffer<std::byte> lines_;
    Buffer<std::uint32_t> lists_;
    Buffer<int> sides_;
    Buffer<std::uint32_t> sums_;
    Buffer<int> block_sides_;
    std::size_t blocks_ = 0;                                ///< of the chosen variant
    std::array<std::vector<std::uint32_t>, 2> group_sums_;  ///< of each side: [partition_groups]
};

std::vector<Axis> axes(const Machine&)
{
    return {word_axis("operation", "what is done", {"load"}),
            {.name = "path",
             .meaning = "partition of the L2, seen from each multiprocessor",
             .defaults = {"l2_near", "l2_far"},
             .allowed = {"l2_near", "l2_far", "l2_near:apart", "l2_far:apart"}}};
}

}  // namespace

GpuBench partition_bench(const Libraries&)
{
    return {.name = "partition",
            .role = Role::bandwidth,
            .description =
                "Bytes that all multiprocessors load from the partition of the L2 that is near each, or from the far "
                "one: lines were told apart by how long an atomic access takes, and every sum is checked. Requests "
                "of several multiprocessors for one line may be merged, as on an H100: then it is no rate of the L2.",
            .axes = axes,
            .create = [](const GpuPoint& at) { return std::make_unique<PartitionSubject>(at); }};
}

}  // namespace roof::gpu
