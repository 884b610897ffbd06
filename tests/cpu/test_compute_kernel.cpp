// Compute kernels: what they compute, and that they consist of the instructions they are counted by.
#include "cpu/kernels/compute_kernel.hpp"
#include "cpu/kernels/reference.hpp"
#include "cpu/kernels/registers.hpp"
#include "ert/base/error.hpp"
#include "tests/cpu/decode.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

using namespace roof;
using namespace roof::cpu;

namespace {

constexpr Precision precisions[] = {Precision::fp64, Precision::fp32};

RegisterFile start_values(const ComputeKernel& kernel, Precision precision)
{
    RegisterFile file(kernel.chains(), kernel.isa().register_bytes, precision);
    for (int chain = 0; chain < kernel.chains(); ++chain) {
        for (int lane = 0; lane < kernel.register_elements(); ++lane)
            file.set(chain, lane, 1 + (3 * chain + lane) / 128.0);
    }
    return file;
}

RegisterFile run(const ComputeKernel& kernel, Precision precision, const Constants& values, std::size_t iterations)
{
    const RegisterFile start = start_values(kernel, precision);
    RegisterFile constants(2, kernel.isa().register_bytes, precision);
    constants.broadcast(0, values.factor);
    constants.broadcast(1, values.addend);
    RegisterFile result(kernel.chains(), kernel.isa().register_bytes, precision);
    kernel.run(iterations, start.data(), constants.data(), result.data());
    return result;
}

bool can_run(const Isa& isa, const Mix& mix)
{
    const auto has = [](const std::vector<std::string>& words, std::string_view word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    return has(usable_isas(), isa.name) && (!mix.needs_fma() || has(usable_features(), "fma"));
}

double decoded_flops(const ComputeKernel& kernel, int element_bytes)
{
    double flops = 0;
    for (const test::Instruction& instruction : test::decode(kernel.loop())) {
        const double lanes = static_cast<double>(instruction.bytes) / element_bytes;
        switch (instruction.kind) {
            case test::Kind::fma:
                flops += 2 * lanes;
                break;
            case test::Kind::add:
            case test::Kind::mul:
                flops += lanes;
                break;
            default:
                FAIL("an instruction in the loop that is no arithmetic");
        }
        CHECK_FALSE(instruction.reads_memory);
    }
    return flops;
}

}  // namespace

TEST_CASE("every compute kernel that this machine can run agrees with the host to the last bit")
{
    for (const Isa& isa : isa_table) {
        for (const Mix& mix : mix_table) {
            for (const Precision precision : precisions) {
                if (!can_run(isa, mix)) continue;
                CAPTURE(isa.name, mix.name, traits(precision).name);
                const ComputeKernel kernel(isa, precision, mix);
                constexpr int iterations = 5;
                const RegisterFile start = start_values(kernel, precision);
                const RegisterFile result = run(kernel, precision, telling_constants, iterations);
                for (int lane = 0; lane < kernel.lanes(); ++lane) {
                    std::vector<double> values;
                    for (int chain = 0; chain < kernel.chains(); ++chain) values.push_back(start.at(chain, lane));
                    values = reference(kernel.steps(), telling_constants, iterations, precision, values);
                    for (int chain = 0; chain < kernel.chains(); ++chain) {
                        REQUIRE(result.at(chain, lane) == values[chain]);
                        REQUIRE(result.at(chain, lane) != start.at(chain, lane));
                    }
                }
            }
        }
    }
}

TEST_CASE("the instructions in a compute loop are those its FLOPs are counted from")
{
    for (const Isa& isa : isa_table) {
        for (const Mix& mix : mix_table) {
            for (const Precision precision : precisions) {
                CAPTURE(isa.name, mix.name, traits(precision).name);
                const ComputeKernel kernel(isa, precision, mix);
                CHECK(decoded_flops(kernel, traits(precision).storage_bytes) == kernel.flops_per_iteration());
            }
        }
    }
}

TEST_CASE("an avx512 fma loop in fp32 counts 32 FLOPs for each of its instructions")
{
    const ComputeKernel kernel(parse_isa("avx512"), Precision::fp32, parse_mix("fma"));
    CHECK(kernel.flops_per_iteration() == 32.0 * static_cast<double>(test::decode(kernel.loop()).size()));
}

TEST_CASE("a mix has each of its kinds equally often, and every chain equally long")
{
    for (const Mix& mix : mix_table) {
        CAPTURE(mix.name);
        std::vector<int> of_chain(mix.chains());
        std::vector<int> of_kind(3);
        for (const Step& step : body(mix)) {
            ++of_chain[step.accumulator];
            ++of_kind[static_cast<int>(step.operation)];
        }
        CHECK(*std::min_element(of_chain.begin(), of_chain.end()) > 0);
        const int most = *std::max_element(of_kind.begin(), of_kind.end());
        for (const int kind : of_kind) CHECK((kind == 0 || kind == most));
        CHECK(mix.chains() >= 12);
        CHECK(mix.chains() <= 14);
    }
}

TEST_CASE("chains stay normal numbers over many iterations")
{
    for (const Mix& mix : mix_table) {
        const Isa& isa = parse_isa("sse");
        if (!can_run(isa, mix)) continue;
        CAPTURE(mix.name);
        const ComputeKernel kernel(isa, Precision::fp32, mix);
        const RegisterFile result = run(kernel, Precision::fp32, steady_constants, 20'000'000);
        for (int chain = 0; chain < kernel.chains(); ++chain) {
            CHECK(std::isnormal(result.at(chain, 0)));
            CHECK(std::abs(result.at(chain, 0)) < 1e9);
        }
    }
}

TEST_CASE("a precision without kernels is unsupported, and an unknown word is a mistake of the user")
{
    CHECK_THROWS_AS(ComputeKernel(parse_isa("sse"), Precision::bf16, parse_mix("add")), Unsupported);
    CHECK_THROWS_AS(parse_isa("avx"), InputError);
    CHECK_THROWS_AS(parse_mix("fma + add"), InputError);
}
