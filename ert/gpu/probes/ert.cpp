// Bench "ert" of a GPU: the curve below the roofs, as the Empirical Roofline Toolkit measures it.
//
// Launched    one kernel template: each vector of 16 bytes is loaded once, and as many multiply-adds as the intensity
//             asks for use it. A launch makes many passes over the working set. The division among the blocks is found
//             by trying.
// Saturates   the path to the level that holds the working set where the intensity is low, the multiply-add pipe where
//             it is high. The ridge should lie where the two roofs cross.
// FLOPs       2 per multiply-add. Bytes: those loaded. Both are exact, so the intensity is too.
// Time        device events; the kernel itself reads the clock.
// Falsified   if the sums of all threads differ from the host's (the numbers are such that no order of adding rounds);
//             if the machine code of the loop has other multiply-adds or loads than those counted; if a point lies
//             above a roof.
#include "ert/base/error.hpp"
#include "ert/base/formats.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/intensities.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace roof::gpu {

namespace {

constexpr long long max_passes = 1 << 22;

class ErtSubject final : public KernelSubject<IntensityLaunch, &IntensityLaunch::passes> {
  public:
    explicit ErtSubject(const GpuPoint& at)
        : KernelSubject(at),
          precision_(at.point.precision()),
          multiply_adds_(multiply_adds_for(at.point.text("intensity"))),
          vectors_(static_cast<std::size_t>(at.point.integer("working_set")) / vector_bytes),
          array_(vectors_ * vector_bytes, "the array of the curve"),
          factor_(vector_bytes, "the factor of the curve")
    {
        const std::vector<double> ones(vector_bytes / static_cast<std::size_t>(traits(precision_).storage_bytes), 1);
        factor_.write(encode(format_of(precision_), ones));
        stream().time([&] { enqueue_intensity_fill(precision_, array_.data(), vectors_, stream().get()); });
        const auto loaded = static_cast<double>(array_.bytes());
        Work work = work_of_bytes(loaded);
        work.flops = Flops{2 * multiply_adds_ * loaded / vector_bytes};
        Variants variants;
        for (const StreamLayout layout : {StreamLayout::stretches, StreamLayout::together}) {
            const auto kernel = intensity_kernel_of({precision_, multiply_adds_, layout});
            const int blocks = resident_blocks(kernel) * attribute(at.id, cudaDevAttrMultiProcessorCount);
            variants.push_back(
                {layout == StreamLayout::together ? "together" : "stretches",
                 work,
                 kernel,
                 {.array = array_.data(), .factor = factor_.data(), .vectors = vectors_, .blocks = blocks}});
        }
        sums_.emplace(array_for<double>(variants, &IntensityLaunch::sums, "sums of the curve",
                                        [](const auto& one) { return one.threads(); }));
        settle_on_fastest(variants, max_passes);
    }

    void check() override
    {
        const CurrentDevice current(stream().id());
        KernelVariant<IntensityLaunch> checked = chosen();
        const std::size_t threads = checked.threads();
        checked.launch.vectors = std::min(vectors_, exact_vectors(precision_, multiply_adds_, threads));
        stream().time([&] { enqueue(checked, 1); });
        const std::vector<double> sums = sums_->read(0, threads);
        const double found = std::accumulate(sums.begin(), sums.end(), 0.0);
        const double expected = expected_sum(precision_, multiply_adds_, checked.launch.vectors);
        if (found != expected)
            throw Error("the sums add up to " + std::to_string(found) + ", not " + std::to_string(expected));
    }

    Bytes memory() const override { return {static_cast<double>(array_.bytes() + sums_->bytes())}; }

  private:
    Precision precision_;
    int multiply_adds_;
    std::size_t vectors_;
    Buffer<std::byte> array_;
    Buffer<std::byte> factor_;
    std::optional<Buffer<double>> sums_;
};

std::vector<Axis> axes(const Machine& machine)
{
    const std::vector<std::string> names(intensity_names.begin(), intensity_names.end());
    return {word_axis("intensity", "FLOPs for each byte loaded", names),
            {.name = "precision", .meaning = "number format", .defaults = {"fp64"}, .allowed = {"fp64", "fp32"}},
            working_set_axis("bytes, over all multiprocessors", usual_ert_sets(machine))};
}

std::optional<std::string> unsupported_reason(const Point& point, const Machine&, const Device&)
{
    if (point.integer("working_set") < vector_bytes) return "the working set is less than one vector";
    return std::nullopt;
}

}  // namespace

GpuBench ert_bench(const Libraries&)
{
    return {.name = "ert",
            .role = Role::compute,
            .description =
                "Multiply-adds on what is loaded, as many for each byte as the intensity says, in the fastest of "
                "several kernels, each checked by its result.",
            .axes = axes,
            .unsupported_reason = unsupported_reason,
            .create = [](const GpuPoint& at) { return std::make_unique<ErtSubject>(at); }};
}

}  // namespace roof::gpu
