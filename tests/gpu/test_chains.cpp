// The chains of the "flops" bench on the host: their expected results, and that these stay in range.
#include "ert/base/formats.hpp"
#include "ert/gpu/probes/chain_reference.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace roof;
using namespace roof::gpu;

namespace {

std::vector<ChainKernel> kernels()
{
    std::vector<ChainKernel> all{{Precision::int32, ChainOperation::fma, 4}};
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16, Precision::bf16}) {
        for (const ChainOperation operation : {ChainOperation::fma, ChainOperation::add, ChainOperation::mul})
            all.push_back({precision, operation, 4});
    }
    return all;
}

}  // namespace

TEST_CASE("a chain alternates between two instructions, each rounded in its format")
{
    const ChainKernel kernel{Precision::fp32, ChainOperation::fma, 8};
    const std::array<double, 4> constants = chain_constants(kernel);
    const double f = constants[0];
    const double g = constants[2];
    const std::vector<double> starts = chain_starts(Precision::fp32, 3);
    const std::vector<double> ends = chain_ends(kernel, starts, 1);
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const auto start = static_cast<float>(starts[i]);
        const float first = std::fma(start, static_cast<float>(f), start);
        CHECK(ends[i] == std::fma(first, static_cast<float>(g), first));
    }
}

TEST_CASE("the values of chains stay in range in launches of any length")
{
    for (const ChainKernel& kernel : kernels()) {
        if (kernel.precision == Precision::int32) continue;
        INFO(traits(kernel.precision).name << " " << static_cast<int>(kernel.operation));
        for (const double end : chain_ends(kernel, chain_starts(kernel.precision, 16), 20000)) {
            CHECK(std::abs(end) > 0.25);
            CHECK(std::abs(end) < 8);
        }
    }
}

TEST_CASE("a missing or extra instruction changes the result of a chain")
{
    for (const ChainKernel& kernel : kernels()) {
        INFO(traits(kernel.precision).name << " " << static_cast<int>(kernel.operation));
        const auto [f, c, g, d] = chain_constants(kernel);
        const std::vector<double> starts = chain_starts(kernel.precision, 64);
        CHECK(std::set<double>(starts.begin(), starts.end()).size() > 32);
        CHECK((f != g || c != d));
        CHECK((kernel.operation == ChainOperation::add || f != 1));
    }
}

TEST_CASE("constants and start values use all bits of their significands")
{
    const auto [f, c, g, d] = chain_constants({Precision::fp16, ChainOperation::fma, 8});
    for (const double constant : {f, c, g, d}) {
        CHECK(std::abs(constant) != 1);
        CHECK_NOTHROW(encode(fp16_format, constant));
    }
    int odd = 0;
    for (const double start : chain_starts(Precision::fp16, 64))
        odd += static_cast<int>(encode(fp16_format, start) & 1);
    CHECK(odd > 16);
}
