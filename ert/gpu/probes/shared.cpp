#include "ert/gpu/probes/shared.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/kernels/shared.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <set>

namespace roof::gpu {

namespace {

constexpr long long most_iterations = 1 << 22;

class SharedSubject final : public Subject {
  public:
    SharedSubject(SharedOperation operation, DeviceId id, std::shared_ptr<const Nvml> nvml)
        : id_(id),
          operation_(operation),
          multiprocessors_(attribute(id, cudaDevAttrMultiProcessorCount)),
          tuned_(id, std::move(nvml)),
          results_(static_cast<std::size_t>(multiprocessors_ * resident_shared_blocks(operation)) * shared_threads,
                   "sums of shared memory")
    {
        std::vector<Way> ways;
        const int most = resident_shared_blocks(operation);
        for (const int each : std::set<int>{1, std::max(1, most / 2), most}) {
            each_.push_back(each);
            ways.push_back({std::to_string(each * shared_threads) + " threads per multiprocessor",
                            1.0 * each * multiprocessors_ * shared_bytes * shared_unroll,
                            [this, each](long long iterations) { enqueue(each, iterations); }});
        }
        tuned_.settle_on_fastest(std::move(ways), most_iterations);
    }

    Work work() const override
    {
        const Bytes moved{tuned_.work()};
        return {{}, moved, moved, Known::analytic};
    }
    void launch(Trace& trace) override { tuned_.launch(trace); }

    void check() override
    {
        constexpr std::uint32_t iterations = 3;
        const CurrentDevice current(id_);
        tuned_.run(iterations);
        const auto count = static_cast<std::size_t>(each_[tuned_.way()] * multiprocessors_) * shared_threads;
        const std::vector<std::uint32_t> found = results_.read(0, count);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto thread = static_cast<std::uint32_t>(i % shared_threads);
            if (found[i] == shared_result(operation_, thread, iterations)) continue;
            throw Error("the sum of thread " + std::to_string(i) + " is not that of the host");
        }
    }

    std::string variant() const override { return tuned_.variant(); }
    std::vector<std::string> remarks() const override { return tuned_.stream().remarks(); }
    Bytes memory() const override { return {static_cast<double>(results_.bytes())}; }

  private:
    void enqueue(int each, long long iterations) const
    {
        enqueue_shared(operation_,
                       {.results = results_.data(),
                        .reading = tuned_.stream().reading(),
                        .blocks = each * multiprocessors_,
                        .iterations = static_cast<int>(iterations)},
                       tuned_.stream().get());
    }

    DeviceId id_;
    SharedOperation operation_;
    int multiprocessors_;
    TunedStream tuned_;
    Buffer<std::uint32_t> results_;
    std::vector<int> each_;
};

class SharedBench final : public GpuBench {
  public:
    explicit SharedBench(std::shared_ptr<const Nvml> nvml)
        : GpuBench({"shared", Role::bandwidth, "gpu",
                    "Bytes that instructions of 16 bytes read from or write to shared memory, on all multiprocessors, "
                    "every sum checked."},
                   std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine&) const override
    {
        return {{.name = "operation",
                 .meaning = "what is done",
                 .defaults = {"load", "store"},
                 .allowed = {"load", "store"}},
                {.name = "path", .meaning = "shared memory", .defaults = {"shared"}, .allowed = {"shared"}}};
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine&, const Device&, DeviceId id) const override
    {
        const bool loads = point.text("operation") == "load";
        return std::make_unique<SharedSubject>(loads ? SharedOperation::load : SharedOperation::store, id, nvml());
    }
};

}  // namespace

std::unique_ptr<Bench> shared_bench(std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<SharedBench>(std::move(nvml));
}

}  // namespace roof::gpu
