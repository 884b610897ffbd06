#include "ert/gpu/probes/latency.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/probes/capability.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/gpu/probes/working_sets.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <algorithm>

namespace roof::gpu {

namespace {

constexpr long long most_iterations = 1 << 22;

std::size_t lines_of_slice(const Point& point, int multiprocessors)
{
    return static_cast<std::size_t>(point.integer("working_set")) / chase_line /
           static_cast<std::size_t>(multiprocessors);
}

class LatencySubject final : public Subject {
  public:
    LatencySubject(std::size_t lines, int multiprocessors, DeviceId id, std::shared_ptr<const Nvml> nvml)
        : id_(id),
          tuned_(id, std::move(nvml)),
          lines_(lines),
          slices_(lines * chase_line * static_cast<std::size_t>(multiprocessors), "lines of the chase"),
          positions_(static_cast<std::size_t>(multiprocessors), "positions of the chase")
    {
        tuned_.stream().time([this] { enqueue_links(launch_of(0), tuned_.stream().get()); });
        go_round();
        tuned_.settle_on_fastest({{"", 1, [this](long long iterations) { enqueue(iterations); }}}, most_iterations);
    }

    Work work() const override
    {
        const Bytes bytes{bytes_per_access * chase_unroll * static_cast<double>(tuned_.repeats())};
        return {{}, bytes, bytes, Known::analytic};
    }
    void launch(Trace& trace) override { tuned_.launch(trace); }

    void check() override
    {
        const CurrentDevice current(id_);
        const std::vector<unsigned long long> before = positions_.read(0, positions_.size());
        constexpr long long iterations = 64;
        tuned_.run(iterations);
        const std::vector<unsigned long long> after = positions_.read(0, positions_.size());
        for (std::size_t i = 0; i < after.size(); ++i) {
            const auto moved = chase_position(lines_, iterations * chase_unroll);
            if (after[i] == (before[i] + moved) % lines_) continue;
            throw Error("the chase of slice " + std::to_string(i) + " is at line " + std::to_string(after[i]) +
                        ", not " + std::to_string((before[i] + moved) % lines_));
        }
    }

    std::vector<std::string> remarks() const override { return tuned_.stream().remarks(); }
    Bytes memory() const override { return {static_cast<double>(slices_.bytes() + positions_.bytes())}; }

  private:
    ChaseLaunch launch_of(long long iterations) const
    {
        return {.slices = slices_.data(),
                .positions = positions_.data(),
                .lines = lines_,
                .reading = tuned_.stream().reading(),
                .slices_count = static_cast<int>(positions_.size()),
                .iterations = static_cast<int>(iterations)};
    }
    void enqueue(long long iterations) const { enqueue_chase(launch_of(iterations), tuned_.stream().get()); }

    /// Once through all lines, so that they lie where they belong; of sets beyond any cache that would take long.
    void go_round() const
    {
        constexpr std::size_t most_lines = std::size_t{1} << 15;
        const std::size_t iterations = std::min(lines_, most_lines) / chase_unroll + 1;
        tuned_.stream().time([&] { enqueue(static_cast<long long>(iterations)); });
    }

    DeviceId id_;
    TunedStream tuned_;
    std::size_t lines_;
    Buffer<std::byte> slices_;
    Buffer<unsigned long long> positions_;
};

class LatencyBench final : public GpuBench {
  public:
    explicit LatencyBench(std::shared_ptr<const Nvml> nvml)
        : GpuBench({"latency", Role::latency, "gpu",
                    "Time of one load of a chain in which each finds the next one's address, on one thread of each "
                    "multiprocessor."},
                   std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override
    {
        return {working_set_axis("bytes of all lines, over all multiprocessors", usual_chase_sets(machine))};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine&,
                                                  const Device& device) const override
    {
        if (lines_of_slice(point, multiprocessors_of(device)) < 2)
            return "the working set is less than two lines for each multiprocessor";
        return missing_capability(device, 80, "this build");
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine&, const Device& device,
                                       DeviceId id) const override
    {
        const int multiprocessors = multiprocessors_of(device);
        return std::make_unique<LatencySubject>(lines_of_slice(point, multiprocessors), multiprocessors, id, nvml());
    }
};

}  // namespace

std::unique_ptr<Bench> latency_bench(std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<LatencyBench>(std::move(nvml));
}

}  // namespace roof::gpu
