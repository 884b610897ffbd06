// Rates of a multiprocessor by the files of configs/machines/capabilities, against the data sheets' rates of whole
// cards.
#include "ert/method/bench/chip.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace roof;

namespace {

double per_clock(int capability, const std::string& isa, const std::string& operation, const std::string& precision)
{
    const GpuChip* const chip = gpu_chip(capability);
    if (chip == nullptr) return 0;
    for (const SpecRate& spec : chip->instructions) {
        if (spec.isa == isa && spec.operation == operation && spec.precision == precision) return spec.per_clock;
    }
    return 0;
}

}  // namespace

TEST_CASE("spec rates per clock give the data sheets' rates of a whole card")
{
    // Multiprocessors and boost clock of each card, and the rates of its data sheet, without sparsity.
    constexpr double p40 = 30 * 1.531e9;
    CHECK(p40 * per_clock(61, "cuda", "fma", "fp32") == Approx(11.76e12).epsilon(0.01));
    constexpr double p100 = 56 * 1.303e9;
    CHECK(p100 * per_clock(60, "cuda", "fma", "fp64") == Approx(4.7e12).epsilon(0.01));
    CHECK(p100 * per_clock(60, "cuda", "fma", "fp16") == Approx(18.7e12).epsilon(0.01));
    constexpr double v100 = 80 * 1.53e9;
    CHECK(v100 * per_clock(70, "cuda", "fma", "fp64") == Approx(7.8e12).epsilon(0.01));
    CHECK(v100 * per_clock(70, "mma", "tile", "fp16") == Approx(125e12).epsilon(0.01));
    constexpr double t4 = 40 * 1.59e9;
    CHECK(t4 * per_clock(75, "cuda", "fma", "fp32") == Approx(8.1e12).epsilon(0.01));
    CHECK(t4 * per_clock(75, "mma", "tile", "fp16") == Approx(65e12).epsilon(0.01));
    CHECK(t4 * per_clock(75, "mma", "tile", "int8") == Approx(130e12).epsilon(0.01));
    constexpr double a100 = 108 * 1.41e9;
    CHECK(a100 * per_clock(80, "cuda", "fma", "fp64") == Approx(9.7e12).epsilon(0.01));
    CHECK(a100 * per_clock(80, "cuda", "fma", "fp32") == Approx(19.5e12).epsilon(0.01));
    CHECK(a100 * per_clock(80, "mma", "tile", "bf16") == Approx(312e12).epsilon(0.01));
    CHECK(a100 * per_clock(80, "mma", "tile", "int8") == Approx(624e12).epsilon(0.01));
    constexpr double a10 = 72 * 1.695e9;
    CHECK(a10 * per_clock(86, "cuda", "fma", "fp32") == Approx(31.2e12).epsilon(0.01));
    CHECK(a10 * per_clock(86, "mma", "tile", "fp16") == Approx(125e12).epsilon(0.01));
    CHECK(a10 * per_clock(86, "mma", "tile", "tf32") == Approx(62.5e12).epsilon(0.01));
    constexpr double l40s = 142 * 2.52e9;
    CHECK(l40s * per_clock(89, "cuda", "fma", "fp32") == Approx(91.6e12).epsilon(0.01));
    CHECK(l40s * per_clock(89, "mma", "tile", "bf16") == Approx(362e12).epsilon(0.02));
    CHECK(l40s * per_clock(89, "mma", "tile", "fp8") == Approx(733e12).epsilon(0.01));
    constexpr double h100 = 132 * 1.98e9;
    CHECK(h100 * per_clock(90, "cuda", "fma", "fp32") == Approx(66.9e12).epsilon(0.01));
    CHECK(h100 * per_clock(90, "mma", "tile", "fp64") == Approx(66.9e12).epsilon(0.01));
    constexpr double h100_products = 132 * 1.83e9;  // the clock of the data sheet's tensor rates
    CHECK(h100_products * per_clock(90, "wgmma", "tile", "bf16") == Approx(989.4e12).epsilon(0.01));
    CHECK(h100_products * per_clock(90, "wgmma", "tile", "fp8") == Approx(1978.9e12).epsilon(0.01));
}

TEST_CASE("a rate that no document gives is unknown, and each rate has its source")
{
    CHECK(gpu_has(120, "mma", "tile", "fp16"));
    CHECK(per_clock(120, "mma", "tile", "fp16") == 0);
    CHECK(gpu_chip(37) == nullptr);
    for (const GpuChip& chip : gpu_chips())
        for (const SpecRate& spec : chip.instructions) CHECK(spec.source.starts_with(chip.name));
}

TEST_CASE("a newer GPU of a generation has the instructions of an older one, and of another the general ones alone")
{
    CHECK(gpu_has(121, "mma", "tile_nv", "fp4"));
    CHECK(gpu_has(87, "mma", "tile", "bf16"));
    CHECK(gpu_has(110, "mma", "tile", "bf16"));
    CHECK_FALSE(gpu_has(110, "tcgen05", "tile", "bf16"));
    CHECK(tensor_precisions(61).empty());
    CHECK(tensor_precisions(70) == std::vector<std::string>{"fp16"});
    CHECK(tensor_precisions(75) == std::vector<std::string>{"fp16", "int8"});
    CHECK_FALSE(multiplies(75, "bf16"));
    CHECK(multiplies(61, "fp32"));
}
