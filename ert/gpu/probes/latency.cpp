// Bench "latency" of a GPU: the time from one load to the next that needs its result.
//
// Launched    one thread on each multiprocessor, which visits all lines of its own slice of the working set. A working
//             set then lies in the same level as that of the "bandwidth" bench.
// Saturates   nothing: each multiprocessor has one load at a time.
// Counts      the steps of one thread; all threads step at the same time. Neighbouring lines of 64 bytes are far apart
//             in the order of the steps.
// Time        device events; the kernel itself reads the clock.
// Falsified   if any thread ends at another line than the arithmetic of its chain says.
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <algorithm>

namespace roof::gpu {

namespace {

constexpr long long max_iterations = 1 << 22;

std::size_t lines_of_slice(const Point& point, const Device& device)
{
    return static_cast<std::size_t>(point.integer("working_set")) / chase_line /
           static_cast<std::size_t>(multiprocessors_of(device));
}

class LatencySubject final : public TunedSubject {
  public:
    explicit LatencySubject(const GpuPoint& at)
        : TunedSubject(at),
          lines_(lines_of_slice(at.point, at.device)),
          past_l1_(at.point.text("isa") == "cg"),
          positions_(static_cast<std::size_t>(multiprocessors_of(at.device)), "positions of the chase"),
          slices_(lines_ * chase_line * positions_.size(), "lines of the chase")
    {
        stream().time([this] { enqueue_links(launch_of(0), stream().get()); });
        visit_all_lines();
        settle_on_fastest({{"", work_of_bytes(bytes_per_access * chase_unroll),
                            [this](long long iterations) { enqueue(iterations); }}},
                          max_iterations);
    }

    void check() override
    {
        constexpr long long iterations = 64;
        const CurrentDevice current(stream().id());
        const std::vector<unsigned long long> before = positions_.read(0, positions_.size());
        run(iterations);
        const std::vector<unsigned long long> after = positions_.read(0, positions_.size());
        const auto moved = chase_position(lines_, iterations * chase_unroll);
        for (std::size_t i = 0; i < after.size(); ++i) {
            const auto expected = (before[i] + moved) % lines_;
            if (after[i] == expected) continue;
            throw Error("the chase of slice " + std::to_string(i) + " is at line " + std::to_string(after[i]) +
                        ", not " + std::to_string(expected));
        }
    }

    Bytes memory() const override { return {static_cast<double>(slices_.bytes() + positions_.bytes())}; }

  private:
    ChaseLaunch launch_of(long long iterations) const
    {
        return {.slices = slices_.data(),
                .positions = positions_.data(),
                .lines = lines_,
                .reading = stream().reading(),
                .slices_count = static_cast<int>(positions_.size()),
                .iterations = static_cast<int>(iterations),
                .past_l1 = past_l1_};
    }
    void enqueue(long long iterations) const { enqueue_chase(launch_of(iterations), stream().get()); }

    /// Loads all lines once, so that each is in its level. Sets beyond any cache are loaded in part: all of one would
    /// take long.
    void visit_all_lines() const
    {
        const std::size_t max_lines = (std::size_t{1} << 22) / positions_.size();
        const std::size_t iterations = std::min(lines_, max_lines) / chase_unroll + 1;
        stream().time([&] { enqueue(static_cast<long long>(iterations)); });
    }

    std::size_t lines_;
    bool past_l1_;
    Buffer<unsigned long long> positions_;
    Buffer<std::byte> slices_;
};

std::optional<std::string> unsupported_reason(const Point& point, const Machine&, const Device& device)
{
    if (lines_of_slice(point, device) < 2) return "the working set is less than two lines for each multiprocessor";
    return std::nullopt;
}

}  // namespace

GpuBench latency_bench(const Libraries&)
{
    return {.name = "latency",
            .role = Role::latency,
            .description =
                "Time of one load of a chain in which each load returns the address of the next, on one thread of each "
                "multiprocessor.",
            .axes = [](const Machine& machine) -> std::vector<Axis> {
                return {word_axis("isa", "loads, or loads past the L1 (ld.global.cg)", {"cuda", "cg"}),
                        working_set_axis("bytes of all lines, over all multiprocessors", usual_chase_sets(machine))};
            },
            .unsupported_reason = unsupported_reason,
            .create = [](const GpuPoint& at) { return std::make_unique<LatencySubject>(at); }};
}

}  // namespace roof::gpu
