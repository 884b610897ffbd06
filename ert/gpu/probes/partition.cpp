#include "ert/gpu/probes/partition.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/kernels/l2_lines.hpp"
#include "ert/gpu/kernels/partition.hpp"
#include "ert/gpu/kernels/stream.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/capability.hpp"
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

constexpr long long most_passes = 1 << 20;
constexpr int blocks_of_multiprocessor = 8;
constexpr double pass_bytes = 1.0 * partition_lines * partition_line;  ///< of a block

/// Of the words of the pool's lines of these numbers, modulo 2^32, as Arrays fills them.
std::uint32_t sum_of_lines(std::span<const std::uint32_t> lines)
{
    constexpr std::size_t words = partition_line / sizeof(float);
    std::uint32_t sum = 0;
    for (const std::size_t line : lines) {
        for (std::size_t i = 0; i < words; ++i)
            sum += std::bit_cast<std::uint32_t>(due_word(StreamOperation::load, line * words + i));
    }
    return sum;
}

class PartitionSubject final : public Subject {
  public:
    PartitionSubject(bool is_far, int multiprocessors, DeviceId id, std::shared_ptr<const Nvml> nvml)
        : id_(id),
          is_far_(is_far),
          multiprocessors_(multiprocessors),
          most_blocks_(multiprocessors * std::max(1, resident_partition_blocks())),
          tuned_(id, std::move(nvml)),
          lines_(pool_lines * pool_line, "lines in the L2"),
          lists_(2 * partition_lines, "lists of lines"),
          sides_(static_cast<std::size_t>(multiprocessors), "sides of multiprocessors"),
          sums_(static_cast<std::size_t>(most_blocks_) * partition_threads, "sums of lines"),
          seats_(static_cast<std::size_t>(most_blocks_), "sides of blocks")
    {
        take(sides_of(time_all_lines(), pool_lines));
        enqueue_fill(lines_.data(), lines_.size() / vector_bytes, 0, 0, tuned_.stream().get());
        std::vector<Way> ways;
        const int most = most_blocks_ / multiprocessors;
        for (const int each : std::set<int>{1, std::max(1, most / 2), most}) {
            blocks_.push_back(each * multiprocessors);
            ways.push_back({std::to_string(each * partition_threads) + " threads per multiprocessor",
                            blocks_.back() * pass_bytes,
                            [this, blocks = blocks_.back()](long long passes) { enqueue(blocks, passes); }});
        }
        tuned_.settle_on_fastest(std::move(ways), most_passes);
    }

    Work work() const override
    {
        const Bytes moved{tuned_.work()};
        return {{}, moved, moved, Known::analytic};
    }

    void launch(Trace& trace) override
    {
        tuned_.launch(trace);
        const std::vector<int> seats = seats_.read(0, static_cast<std::size_t>(blocks_[tuned_.way()]));
        if (std::ranges::find(seats, -1) != seats.end())
            trace.disturbed("a block ran on a multiprocessor whose side is not known");
    }

    void check() override
    {
        constexpr std::uint32_t passes = 3;
        const CurrentDevice current(id_);
        tuned_.run(passes);
        const auto blocks = static_cast<std::size_t>(blocks_[tuned_.way()]);
        const std::vector<int> seats = seats_.read(0, blocks);
        for (std::size_t block = 0; block < blocks; ++block) {
            const std::vector<std::uint32_t> found = sums_.read(block * partition_threads, partition_threads);
            const auto side = static_cast<std::size_t>(std::max(0, seats[block]));
            const std::size_t list = is_far_ && seats[block] >= 0 ? 1 - side : side;
            if (std::accumulate(found.begin(), found.end(), 0U) != passes * due_[list])
                throw Error("the sum of block " + std::to_string(block) + " is not that of its side's lines");
        }
    }

    std::string variant() const override { return tuned_.variant() + "; " + found_; }
    std::vector<std::string> remarks() const override { return tuned_.stream().remarks(); }
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
        Buffer<unsigned> taken(count, "the number of a launch");
        taken.write(std::vector<unsigned>(count, 0));
        unsigned ticket = 0;
        tuned_.stream().settle([&] {
            enqueue_pool_distances(
                {taken.data(), ++ticket, lines_.data(), cycles.data(), static_cast<unsigned>(multiprocessors_),
                 blocks_of_multiprocessor * multiprocessors_},
                tuned_.stream().get());
        });
        std::vector<std::uint32_t> found = cycles.read(0, cycles.size());
        const std::vector<unsigned> tickets = taken.read(0, count);
        for (std::size_t i = 0; i < count; ++i) {
            if (tickets[i] != ticket)
                std::fill_n(found.begin() + static_cast<std::ptrdiff_t>(i * pool_lines), pool_lines, 0U);
        }
        return found;
    }

    /// Throws Unsupported where a side has too few lines.
    void take(const Sides& sides)
    {
        std::vector<std::uint32_t> lists;
        for (std::size_t side = 0; side < 2; ++side) {
            const std::vector<std::uint32_t> list = list_of(sides.lines[side], partition_lines);
            due_[side] = sum_of_lines(list);
            lists.insert(lists.end(), list.begin(), list.end());
        }
        lists_.write(lists);
        sides_.write(sides.of_multiprocessors);
        const auto near = std::ranges::count(sides.of_multiprocessors, 0);
        found_ = std::to_string(near) + " multiprocessors on one side, " +
                 std::to_string(std::ranges::count(sides.of_multiprocessors, 1)) + " on the other";
    }

    void enqueue(int blocks, long long passes) const
    {
        enqueue_partition({.lines = lines_.data(),
                           .lists = lists_.data(),
                           .sides = sides_.data(),
                           .multiprocessors = static_cast<unsigned>(multiprocessors_),
                           .is_far = is_far_,
                           .sums = sums_.data(),
                           .seats = seats_.data(),
                           .reading = tuned_.stream().reading(),
                           .blocks = blocks,
                           .passes = static_cast<int>(passes)},
                          tuned_.stream().get());
    }

    DeviceId id_;
    bool is_far_;
    int multiprocessors_;
    int most_blocks_;
    TunedStream tuned_;
    Buffer<std::byte> lines_;
    Buffer<std::uint32_t> lists_;
    Buffer<int> sides_;
    Buffer<std::uint32_t> sums_;
    Buffer<int> seats_;
    std::vector<int> blocks_;  ///< of each way
    std::array<std::uint32_t, 2> due_{};
    std::string found_;
};

class PartitionBench final : public GpuBench {
  public:
    explicit PartitionBench(std::shared_ptr<const Nvml> nvml)
        : GpuBench({"partition", Role::bandwidth, "gpu",
                    "Bytes that all multiprocessors load from the partition of the L2 that is near each, or from the "
                    "far one: lines were told apart by how long each takes, and every sum is checked."},
                   std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine&) const override
    {
        return {{.name = "operation", .meaning = "what is done", .defaults = {"load"}, .allowed = {"load"}},
                {.name = "path",
                 .meaning = "partition of the L2, seen from each multiprocessor",
                 .defaults = {"l2_near", "l2_far"},
                 .allowed = {"l2_near", "l2_far"}}};
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine&, const Device& device,
                                       DeviceId id) const override
    {
        return std::make_unique<PartitionSubject>(point.text("path") == "l2_far", multiprocessors_of(device), id,
                                                  nvml());
    }
};

}  // namespace

std::unique_ptr<Bench> partition_bench(std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<PartitionBench>(std::move(nvml));
}

}  // namespace roof::gpu
