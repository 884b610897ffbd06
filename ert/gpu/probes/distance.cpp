// Bench "distance" of a GPU: the latency of loads from the near and from the far partition of its L2, where it has two.
//
// Launched    one thread on multiprocessor 0, past the L1. First it times each of 1024 lines many times, to tell near
//             lines from far ones. Then it follows a chain through the near lines, or through the far ones.
// Saturates   nothing: one load at a time.
// Counts      the steps of the chain.
// Time        device events; the kernel itself reads the clock. The multiprocessor's own clock times the single lines.
// Falsified   if the chain ends at another line than its arithmetic says, or no block ran on that multiprocessor. A
//             point is unsupported, with the reason, where the lines do not lie at two distances. That is also so where
//             a chip keeps a near copy of far lines.
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/kernels/l2_lines.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/sides.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace roof::gpu {

namespace {

constexpr long long max_iterations = 1 << 18;
constexpr int blocks_of_multiprocessor = 8;

std::string range_of(const std::vector<std::uint32_t>& cycles)
{
    const auto [least, most] = std::ranges::minmax(cycles);
    return std::to_string(least / l2_loads) + " to " + std::to_string(most / l2_loads) + " cycles";
}

class DistanceSubject final : public TunedSubject {
  public:
    explicit DistanceSubject(const GpuPoint& at)
        : TunedSubject(at),
          blocks_(blocks_of_multiprocessor * multiprocessors_of(at.device)),
          lines_(l2_lines * l2_stride, "lines in the L2"),
          last_number_(1, "the number of a launch"),
          place_(1, "the place in a chain")
    {
        const unsigned none = 0;
        last_number_.write({&none, 1});
        const Halves halves = tell_apart();
        chain_ = at.point.text("path") == "l2_far" ? halves.far : halves.near;
        link();
        const std::string name =
            std::to_string(halves.near.size()) + " lines near, " + std::to_string(halves.far.size()) + " far";
        settle_on_fastest(
            {{name, work_of_bytes(bytes_per_access * l2_loads), [this](long long iterations) { enqueue(iterations); }}},
            max_iterations);
    }

    void launch(Trace& trace) override
    {
        TunedSubject::launch(trace);
        if (!has_run()) trace.disturbed("no block ran on the multiprocessor");
    }

    void check() override
    {
        const CurrentDevice current(stream().id());
        constexpr long long iterations = 64;
        const std::size_t before = position();
        run(iterations);
        const std::size_t expected = (before + chase_position(chain_.size(), iterations * l2_loads)) % chain_.size();
        if (const std::size_t after = position(); after != expected)
            throw Error("the chain is at its line " + std::to_string(after) + ", not " + std::to_string(expected));
    }

    Bytes memory() const override { return {static_cast<double>(lines_.bytes())}; }

  private:
    const std::byte* address(int line) const { return lines_.data() + static_cast<std::size_t>(line) * l2_stride; }
    LeaderElection next_election() const { return {0, last_number_.data(), ++number_}; }
    bool has_run() const { return last_number_.read(0, 1).front() == number_; }

    /// `next[i]`: the line whose address line i holds.
    void write_links(const std::vector<int>& next)
    {
        std::vector<std::byte> image(lines_.size());
        for (std::size_t i = 0; i < next.size(); ++i) {
            const std::byte* const to = address(next[i]);
            std::memcpy(image.data() + i * l2_stride, &to, sizeof(to));
        }
        lines_.write(image);
    }

    /// Throws Unsupported where the lines are not at two distances.
    Halves tell_apart()
    {
        std::vector<int> self(l2_lines);
        std::iota(self.begin(), self.end(), 0);
        write_links(self);
        const Buffer<std::uint32_t> cycles(l2_lines, "cycles of each line");
        const auto measure = [&] {
            enqueue_distances({next_election(), lines_.data(), cycles.data(), blocks_}, stream().get());
        };
        stream().settle(measure);
        if (!has_run()) throw Error("no block ran on multiprocessor 0");
        const std::vector<std::uint32_t> found = cycles.read(0, l2_lines);
        if (std::ranges::find(found, 0U) != found.end()) throw Error("a line of the L2 does not hold its own address");
        if (auto halves = halves_of(found)) return *std::move(halves);
        throw Unsupported("this GPU's L2 shows no near and far half: accesses from multiprocessor 0 take " +
                          range_of(found) + ", and not at two distances");
    }

    /// All lines of the chain once, neighbours far apart.
    void link()
    {
        std::vector<int> next(l2_lines, 0);
        const std::size_t stride = chase_stride(chain_.size());
        for (std::size_t i = 0; i < chain_.size(); ++i)
            next[static_cast<std::size_t>(chain_[i])] = chain_[(i + stride) % chain_.size()];
        write_links(next);
        const std::byte* const first = address(chain_.front());
        place_.write({&first, 1});
    }

    void enqueue(long long iterations) const
    {
        enqueue_l2_chase({next_election(), place_.data(), stream().reading(), blocks_, static_cast<int>(iterations)},
                         stream().get());
    }

    std::size_t position() const
    {
        const std::byte* const at = place_.read(0, 1).front();
        const auto found = std::ranges::find_if(chain_, [&](int line) { return address(line) == at; });
        if (found == chain_.end()) throw Error("the chain has left its lines");
        return static_cast<std::size_t>(found - chain_.begin());
    }

    int blocks_;
    Buffer<std::byte> lines_;
    Buffer<unsigned> last_number_;
    Buffer<const std::byte*> place_;
    mutable unsigned number_ = 0;  ///< of the launch last put into the stream
    std::vector<int> chain_;
};

std::vector<Axis> axes(const Machine&)
{
    return {word_axis("path", "partition of the L2, seen from multiprocessor 0", {"l2_near", "l2_far"})};
}

}  // namespace

GpuBench distance_bench(const Libraries&)
{
    return {
        .name = "distance",
        .role = Role::latency,
        .description =
            "Time of one atomic access to the partition of the L2 that is near a multiprocessor, or to the far one, "
            "as a chain through lines that were told apart by how long each takes. A load of a far line may be "
            "answered by a copy in the near partition; an atomic is not.",
        .axes = axes,
        .create = [](const GpuPoint& at) { return std::make_unique<DistanceSubject>(at); }};
}

}  // namespace roof::gpu
