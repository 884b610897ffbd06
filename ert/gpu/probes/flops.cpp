#include "ert/gpu/probes/flops.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/probes/capability.hpp"
#include "ert/gpu/probes/chains.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/mma.hpp"
#include "ert/gpu/probes/wgmma.hpp"

#include <algorithm>

namespace roof::gpu {

namespace {

using Precisions = std::vector<Precision>;

/// The instructions that a word of axis `isa` stands for.
struct Pipe {
    std::string_view isa;
    std::vector<std::string> operations;
    Precisions precisions;
};

const std::vector<Pipe>& pipes()
{
    static const std::vector<Pipe> all{
        {"cuda",
         {"fma", "add", "mul"},
         {Precision::fp64, Precision::fp32, Precision::fp16, Precision::bf16, Precision::int32}},
        {"mma",
         {"tile", "tile_e5m2"},
         {Precision::fp64, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8, Precision::int8}},
        {"wgmma",
         {"tile", "tile_e5m2"},
         {Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8, Precision::int8}},
        {"tcgen05",
         {"tile", "tile_e5m2"},
         {Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8, Precision::int8}},
    };
    return all;
}

const Pipe& pipe_of(const Point& point)
{
    const auto found = std::ranges::find(pipes(), point.text("isa"), &Pipe::isa);
    if (found == pipes().end()) throw InputError("unknown isa '" + point.text("isa") + "'");
    return *found;
}

/// What no GPU has.
std::optional<std::string> contradiction(const Point& point)
{
    const Pipe& pipe = pipe_of(point);
    const std::string& operation = point.text("operation");
    const std::string isa(pipe.isa);
    if (std::ranges::find(pipe.operations, operation) == pipe.operations.end()) return isa + " has no " + operation;
    const Precision precision = point.precision();
    const std::string name(traits(precision).name);
    if (std::ranges::find(pipe.precisions, precision) == pipe.precisions.end()) return isa + " has no " + name;
    if (precision == Precision::int32 && operation != "fma")
        return "two integer additions in a row become one instruction: of int32 there is fma alone";
    if (operation == "tile_e5m2" && precision != Precision::fp8) return "e5m2 is a format of fp8, not of " + name;
    return std::nullopt;
}

std::optional<std::string> missing_instruction(const Point& point, const Device& device)
{
    const std::string& isa = point.text("isa");
    if (isa == "wgmma") {
        if (capability_of(device) > 90) return "wgmma is an instruction of compute capability 9.0 alone";
        return missing_capability(device, 90, "wgmma");
    }
    if (isa == "tcgen05") {
        if (const auto reason = missing_capability(device, 100, "tcgen05")) return reason;
        if (capability_of(device) > 100) return "tcgen05 is built for compute capability 10.0 alone";
        return std::nullopt;
    }
    const int capability = capability_of(device);
    if (isa == "mma" && point.precision() == Precision::fp8 && capability != 89 && capability < 120)
        return "tensor cores take fp8 by mma on compute capability 8.9, and 12.0 on; 9.0 has wgmma for it";
    return missing_capability(device, 80, "this build");
}

class FlopsBench final : public GpuBench {
  public:
    explicit FlopsBench(std::shared_ptr<const Nvml> nvml)
        : GpuBench({"flops", Role::compute, "gpu",
                    "Arithmetic alone, on all multiprocessors: independent instructions of one kind on random numbers, "
                    "as many at once as were found to be fastest, every result checked; a multiply-add counts as two "
                    "operations."},
                   std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine&) const override
    {
        return {
            {.name = "operation",
             .meaning = "kind of instruction; tile: a product of matrices, with fp8 as e4m3 or e5m2",
             .defaults = {"fma"},
             .allowed = {"fma", "add", "mul", "tile", "tile_e5m2"}},
            {.name = "isa",
             .meaning = "CUDA cores, or tensor cores by mma.sync, wgmma or tcgen05",
             .defaults = {"cuda"},
             .allowed = {"cuda", "mma", "wgmma", "tcgen05"}},
            {.name = "precision",
             .meaning = "number format",
             .defaults = {"fp64", "fp32"},
             .allowed = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "int32"}},
        };
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine&,
                                                  const Device& device) const override
    {
        if (auto reason = contradiction(point)) return reason;
        return missing_instruction(point, device);
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine&, const Device& device,
                                       DeviceId id) const override
    {
        const bool is_e5m2 = point.text("operation") == "tile_e5m2";
        if (point.text("isa") == "mma") return make_mma(point.precision(), is_e5m2, capability_of(device), id, nvml());
        if (point.text("isa") == "wgmma") return make_wgmma(point.precision(), is_e5m2, id, nvml());
        if (point.text("isa") == "tcgen05") return make_tcgen05(point.precision(), is_e5m2, id, nvml());
        return make_chains(point.precision(), parse_chain_operation(point.text("operation")), id, nvml());
    }
};

}  // namespace

std::unique_ptr<Bench> flops_bench(std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<FlopsBench>(std::move(nvml));
}

}  // namespace roof::gpu
