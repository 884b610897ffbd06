#include "ert/gpu/probes/ert.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/formats.hpp"
#include "ert/gpu/probes/capability.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/intensity_keywords.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/gpu/probes/working_sets.hpp"

#include <algorithm>
#include <numeric>

namespace roof::gpu {

namespace {

constexpr long long most_passes = 1 << 22;

struct Candidate {
    IntensityKernel kernel;
    int blocks = 1;
};

std::vector<Candidate> candidates_for(Precision precision, int multiply_adds, int multiprocessors)
{
    std::vector<Candidate> candidates;
    for (const StreamLayout layout : {StreamLayout::stretches, StreamLayout::together}) {
        const IntensityKernel kernel{precision, multiply_adds, layout};
        candidates.push_back({kernel, resident_intensity_blocks(kernel) * multiprocessors});
    }
    return candidates;
}

std::size_t most_threads(const std::vector<Candidate>& candidates)
{
    const auto most = std::ranges::max_element(candidates, {}, &Candidate::blocks);
    return static_cast<std::size_t>(most->blocks) * intensity_threads;
}

class ErtSubject final : public Subject {
  public:
    ErtSubject(Precision precision, int multiply_adds, std::size_t vectors, DeviceId id,
               std::shared_ptr<const Nvml> nvml)
        : id_(id),
          precision_(precision),
          multiply_adds_(multiply_adds),
          vectors_(vectors),
          tuned_(id, std::move(nvml)),
          candidates_(candidates_for(precision, multiply_adds, attribute(id, cudaDevAttrMultiProcessorCount))),
          array_(vectors * vector_bytes, "the array of the curve"),
          factor_(sizeof(double), "the factor of the curve"),
          sums_(most_threads(candidates_), "sums of the curve")
    {
        const std::vector<double> one{1};
        factor_.write(encode(format_of(precision), one));
        tuned_.stream().time([&] { enqueue_intensity_fill(precision, array_.data(), vectors, tuned_.stream().get()); });
        std::vector<Way> ways;
        for (const Candidate& candidate : candidates_) {
            const bool together = candidate.kernel.layout == StreamLayout::together;
            ways.push_back({together ? "together" : "stretches", static_cast<double>(array_.bytes()),
                            [this, &candidate](long long passes) { enqueue(candidate, passes); }});
        }
        tuned_.settle_on_fastest(std::move(ways), most_passes);
    }

    Work work() const override
    {
        const Bytes loaded{tuned_.work()};
        return {Flops{2 * multiply_adds_ * loaded.value / vector_bytes}, loaded, loaded, Known::analytic};
    }
    void launch(Trace& trace) override { tuned_.launch(trace); }

    void check() override
    {
        const CurrentDevice current(id_);
        tuned_.run(1);
        const auto threads = static_cast<std::size_t>(candidates_[tuned_.way()].blocks) * intensity_threads;
        const std::vector<double> sums = sums_.read(0, threads);
        const double found = std::accumulate(sums.begin(), sums.end(), 0.0);
        const double due = due_sum(precision_, multiply_adds_, vectors_);
        if (found != due) throw Error("the sums add up to " + std::to_string(found) + ", not " + std::to_string(due));
    }

    std::string variant() const override { return tuned_.variant(); }
    std::vector<std::string> remarks() const override { return tuned_.stream().remarks(); }
    Bytes memory() const override { return {static_cast<double>(array_.bytes() + sums_.bytes())}; }

  private:
    void enqueue(const Candidate& candidate, long long passes) const
    {
        enqueue_intensity(candidate.kernel,
                          {.array = array_.data(),
                           .factor = factor_.data(),
                           .sums = sums_.data(),
                           .vectors = vectors_,
                           .reading = tuned_.stream().reading(),
                           .blocks = candidate.blocks,
                           .passes = static_cast<int>(passes)},
                          tuned_.stream().get());
    }

    DeviceId id_;
    Precision precision_;
    int multiply_adds_;
    std::size_t vectors_;
    TunedStream tuned_;
    std::vector<Candidate> candidates_;
    Buffer<std::byte> array_;
    Buffer<std::byte> factor_;
    Buffer<double> sums_;
};

class ErtBench final : public GpuBench {
  public:
    explicit ErtBench(std::shared_ptr<const Nvml> nvml)
        : GpuBench({"ert", Role::compute, "gpu",
                    "Multiply-adds on what is loaded, as many for each byte as the intensity says, in the fastest of "
                    "several kernels, each checked by its result."},
                   std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override
    {
        const std::vector<std::string> words(intensity_keywords.begin(), intensity_keywords.end());
        return {{.name = "intensity", .meaning = "FLOPs for each byte loaded", .defaults = words, .allowed = words},
                {.name = "precision", .meaning = "number format", .defaults = {"fp64"}, .allowed = {"fp64", "fp32"}},
                working_set_axis("bytes, over all multiprocessors", usual_ert_sets(machine))};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine&,
                                                  const Device& device) const override
    {
        if (point.integer("working_set") < vector_bytes) return "the working set is less than one vector";
        return missing_capability(device, 80, "this build");
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine&, const Device&, DeviceId id) const override
    {
        return std::make_unique<ErtSubject>(point.precision(), multiply_adds_for(point.text("intensity")),
                                            static_cast<std::size_t>(point.integer("working_set")) / vector_bytes, id,
                                            nvml());
    }
};

}  // namespace

std::unique_ptr<Bench> ert_bench(std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<ErtBench>(std::move(nvml));
}

}  // namespace roof::gpu
