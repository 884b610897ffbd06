// Bench "flops" of a GPU: its arithmetic units on registers (CUDA cores, tensor cores by `mma`) or on shared memory
// (tensor cores by `wgmma` and `tcgen05`). chains.cpp, mma.cpp and tensor_core.cpp hold the contracts.
#include "ert/base/error.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/flops_subjects.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/method/bench/chip.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace roof::gpu {

namespace {

/// The values of axis `isa`.
constexpr std::array<Named<std::unique_ptr<Subject> (*)(const GpuPoint&)>, 4> makers{
    {{make_chains, "cuda"}, {make_mma, "mma"}, {make_wgmma, "wgmma"}, {make_tcgen05, "tcgen05"}}};

/// Why no GPU can run the point.
std::optional<std::string> contradiction(const Point& point)
{
    const std::string& isa = point.text("isa");
    const std::string& operation = point.text("operation");
    const Precision precision = point.precision();
    const std::string name(traits(precision).name);
    const auto some_gpu_has = [&](std::string_view of_operation, std::string_view of_precision) {
        return std::ranges::any_of(gpu_chips(),
                                   [&](const GpuChip& chip) { return chip.has(isa, of_operation, of_precision); });
    };
    if (!some_gpu_has(operation, "")) return isa + " has no " + operation;
    if (!some_gpu_has("", name)) return isa + " has no " + name;
    if (precision == Precision::int32 && operation != "fma")
        return "two integer additions in a row become one instruction: int32 has only fma";
    if (operation == "tile_e5m2" && precision != Precision::fp8) return "e5m2 is a format of fp8, not of " + name;
    if (operation == "tile_pairs" && (precision == Precision::fp4 || precision == Precision::int8))
        return "tcgen05 of two blocks is issued in tf32, fp16, bf16 and fp8";
    if (operation == "tile_mx" && precision != Precision::fp8 && precision != Precision::fp4)
        return "only fp8 and fp4 have a scale for each 32 numbers, not " + name;
    if (operation == "tile_nv" && precision != Precision::fp4)
        return "only fp4 has a scale for each 16 numbers, not " + name;
    if (precision == Precision::fp4 && operation != "tile_mx" && operation != "tile_nv")
        return "fp4 has only products with scales: tile_mx and tile_nv";
    return std::nullopt;
}

/// Why this GPU cannot run the point, by the files of configs/machines/capabilities.
std::optional<std::string> missing_instruction(const Point& point, const Device& device)
{
    const std::string& isa = point.text("isa");
    const std::string& operation = point.text("operation");
    const std::string& precision = point.text("precision");
    if (gpu_has(capability_of(device), isa, operation, precision)) return std::nullopt;
    std::string owners;
    for (const GpuChip& chip : gpu_chips())
        if (chip.has(isa, operation, precision)) owners += (owners.empty() ? "" : ", ") + chip.name;
    return "this GPU" + of_capability(device) + " has no " + operation + " in " + precision + " by " + isa +
           "; these have: " + owners;
}

std::vector<Axis> axes(const Machine&)
{
    return {
        {.name = "operation",
         .meaning = "kind of instruction; tile: a product of matrices; tile_pairs: of two multiprocessors; with fp8 as "
                    "e4m3 or e5m2, or with a scale for each 32 numbers (mx) or 16 (nv)",
         .defaults = {"fma"},
         .allowed = {"fma", "add", "mul", "tile", "tile_pairs", "tile_e5m2", "tile_mx", "tile_nv"}},
        {.name = "isa",
         .meaning = "CUDA cores, or tensor cores by mma.sync, wgmma or tcgen05",
         .defaults = {"cuda"},
         .allowed = {"cuda", "mma", "wgmma", "tcgen05"}},
        {.name = "precision",
         .meaning = "number format",
         .defaults = {"fp64", "fp32"},
         .allowed = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "int32"}}};
}

std::optional<std::string> unsupported_reason(const Point& point, const Machine&, const Device& device)
{
    if (auto reason = contradiction(point)) return reason;
    return missing_instruction(point, device);
}

}  // namespace

TensorFormat tensor_format_of(const Point& point)
{
    const std::string& operation = point.text("operation");
    const Precision precision = point.precision();
    if (operation == "tile_mx") return precision == Precision::fp4 ? TensorFormat::mxfp4 : TensorFormat::mxfp8;
    if (operation == "tile_nv") return TensorFormat::nvfp4;
    if (operation == "tile_e5m2") return TensorFormat::e5m2;
    constexpr std::array formats{
        std::pair{Precision::fp64, TensorFormat::fp64}, std::pair{Precision::tf32, TensorFormat::tf32},
        std::pair{Precision::fp16, TensorFormat::fp16}, std::pair{Precision::bf16, TensorFormat::bf16},
        std::pair{Precision::int8, TensorFormat::int8}, std::pair{Precision::fp8, TensorFormat::e4m3}};
    const auto found = std::ranges::find(formats, precision, [](const auto& row) { return row.first; });
    if (found == formats.end()) throw InputError("the tensor cores have no " + std::string(traits(precision).name));
    return found->second;
}

GpuBench flops_bench(const Libraries&)
{
    return {.name = "flops",
            .role = Role::compute,
            .description =
                "Arithmetic alone, on all multiprocessors: independent instructions of one kind on random numbers, "
                "as many at once as were found to be fastest, every result checked; a multiply-add counts as two "
                "operations.",
            .axes = axes,
            .unsupported_reason = unsupported_reason,
            .create = [](const GpuPoint& at) { return row_in(makers, "isa", at.point.text("isa")).value(at); }};
}

}  // namespace roof::gpu
