// Compute kernels: their results and their instructions.
#include "cpu/kernels/compute_kernel.hpp"
#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/operations.hpp"
#include "cpu/kernels/reference.hpp"
#include "ert/base/error.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>

using namespace roof;
using namespace roof::cpu;

namespace {

const std::vector<std::string> all_features{"fma",         "avx_vnni", "avx512_vnni", "avx512_bf16",
                                            "avx512_fp16", "amx_int8", "amx_bf16"};

/// Calls round(isa, precision, operation, mix) for every loop that a search may try on a machine with `features`.
template <class Round>
void for_every_mix(const std::vector<std::string>& features, const Round& round)
{
    std::vector<Isa> isas(isa_table.begin(), isa_table.end());
    isas.push_back(tile_isa);
    for (const Isa& isa : isas) {
        for (const PrecisionTraits& row : precision_table) {
            for (const std::string& operation : operation_names()) {
                if (operation == best_operation || contradiction(operation, isa, row.precision)) continue;
                for (const Mix& mix : candidates(operation, isa, row.precision, features)) {
                    CAPTURE(isa.name, row.name, operation, mix.description());
                    round(isa, row.precision, operation, mix);
                }
            }
        }
    }
}

/// Only the loops that this machine can run.
template <class Round>
void for_every_mix_here(const Round& round)
{
    const std::vector<std::string> isas = usable_isas();
    for_every_mix(usable_features(), [&](const Isa& isa, Precision precision, const std::string& name, const Mix& mix) {
        const bool here = std::find(isas.begin(), isas.end(), isa.name) != isas.end();
        if (here || isa.encoding == Encoding::tile) round(isa, precision, name, mix);
    });
}

RegisterFile run(const ComputeKernel& kernel, const Operands& operands, std::size_t iterations)
{
    RegisterFile result(kernel.mix().chains(), kernel.isa().register_bytes, kernel.accumulator_format());
    kernel.run(iterations, operands.start.data(), operands.constants.data(), result.data());
    return result;
}

InstructionKind decoded_kind(Arithmetic kind)
{
    constexpr InstructionKind kinds[] = {InstructionKind::fma, InstructionKind::mul,  InstructionKind::add,
                                         InstructionKind::div, InstructionKind::sqrt, InstructionKind::dot,
                                         InstructionKind::tile};
    return kinds[static_cast<std::size_t>(kind)];
}

Element decoded_element(Precision precision)
{
    switch (precision) {
        case Precision::fp64:
            return Element::fp64;
        case Precision::fp32:
            return Element::fp32;
        case Precision::fp16:
            return Element::fp16;
        case Precision::bf16:
            return Element::bf16;
        case Precision::int8:
            return Element::int8;
        default:
            return Element::none;
    }
}

/// FLOPs from the decoded bytes and the documented operations of each instruction.
double flops_of(const Instruction& instruction, int element_bytes)
{
    const double elements = static_cast<double>(instruction.bytes) / element_bytes;
    switch (instruction.kind) {
        case InstructionKind::fma:
        case InstructionKind::dot:
            return 2 * elements;
        case InstructionKind::tile:
            return 2 * 16 * elements;  // every element of the first tile is multiplied with a row of 16 lanes
        default:
            return elements;
    }
}

/// The operands other than the chain itself and the constants.
bool reads_another_chain(const Instruction& instruction, const ComputeKernel& kernel)
{
    const int first_constant = kernel.isa().registers - kernel.mix().constants();
    return std::any_of(instruction.sources.begin(), instruction.sources.end(),
                       [&](int source) { return source != instruction.register_index && source < first_constant; });
}

void check_instructions(const Isa& isa, Precision precision, const Mix& mix)
{
    const ComputeKernel kernel(isa, precision, mix);
    const std::vector<Instruction> instructions = decode(kernel.loop());
    REQUIRE(instructions.size() == kernel.steps().size());
    double flops = 0;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        REQUIRE(instructions[i].kind == decoded_kind(kernel.steps()[i].operation));
        REQUIRE(instructions[i].element == decoded_element(precision));
        REQUIRE(instructions[i].register_index == kernel.steps()[i].accumulator);
        REQUIRE_FALSE(reads_another_chain(instructions[i], kernel));
        REQUIRE_FALSE(instructions[i].reads_memory);
        REQUIRE_FALSE(instructions[i].writes_memory);
        flops += flops_of(instructions[i], traits(precision).storage_bytes);
    }
    REQUIRE(flops == kernel.flops_per_iteration());
}

ComputeKernel kernel_of(std::string_view isa, Precision precision, const Mix& mix)
{
    return ComputeKernel(parse_isa(isa), precision, mix);
}

}  // namespace

TEST_CASE("the instructions in every compute loop give the counted FLOPs")
{
    int loops = 0;
    for_every_mix(all_features, [&](const Isa& isa, Precision precision, const std::string&, const Mix& mix) {
        const bool is_of_the_next_test = mix.uses(Arithmetic::widened);
        if (!is_of_the_next_test) {
            check_instructions(isa, precision, mix);
            ++loops;
        }
    });
    CHECK(loops > 150);
}

TEST_CASE("widened bf16 is multiplied by fma in fp32, and each constant is widened once for all chains")
{
    for (const char* isa : {"avx2", "avx512"}) {
        for (const Mix& mix : candidates("widened", parse_isa(isa), Precision::bf16, {"fma"})) {
            CAPTURE(isa, mix.description());
            const ComputeKernel kernel = kernel_of(isa, Precision::bf16, mix);
            double flops = 0;
            int others = 0;
            for (const Instruction& instruction : decode(kernel.loop())) {
                REQUIRE_FALSE(instruction.reads_memory);
                if (instruction.kind == InstructionKind::fma) {
                    REQUIRE(instruction.element == Element::fp32);
                    flops += flops_of(instruction, 4);
                } else {
                    ++others;
                }
            }
            CHECK(flops == kernel.flops_per_iteration());
            CHECK(others == 2 * static_cast<int>(kernel.steps().size()) / mix.chains());
        }
    }
}

TEST_CASE("a product of tiles uses three different tiles, as the processor requires")
{
    for (const Precision precision : {Precision::bf16, Precision::int8}) {
        const ComputeKernel kernel = kernel_of("amx", precision, {{{Arithmetic::tile, 5}}});
        for (const Instruction& instruction : decode(kernel.loop())) {
            REQUIRE(instruction.sources.size() == 2);
            std::set<int> tiles(instruction.sources.begin(), instruction.sources.end());
            tiles.insert(instruction.register_index);
            CHECK(tiles.size() == 3);
            CHECK(*tiles.rbegin() < 8);
        }
    }
}

TEST_CASE("every compute kernel that this machine can run agrees with the host to the last bit")
{
    for_every_mix_here([](const Isa& isa, Precision precision, const std::string&, const Mix& mix) {
        const ComputeKernel kernel(isa, precision, mix);
        constexpr int iterations = 2;
        const Operands operands = telling_operands(kernel);
        const RegisterFile result = run(kernel, operands, iterations);
        REQUIRE_NOTHROW(check_same(kernel, result, reference(kernel, operands, iterations)));
        REQUIRE_THROWS_AS(check_same(kernel, result, reference(kernel, operands, iterations - 1)), Error);
        REQUIRE_THROWS_AS(check_same(kernel, result, operands.start), Error);
    });
}

TEST_CASE("one wrong lane of one chain fails the check")
{
    const ComputeKernel kernel = kernel_of("sse", Precision::fp32, {{{Arithmetic::add, 6}}});
    const Operands operands = telling_operands(kernel);
    RegisterFile result = reference(kernel, operands, 2);
    CHECK_NOTHROW(check_same(kernel, result, reference(kernel, operands, 2)));
    result.set(5, 3, result.at(5, 3) + 0x1p-20);
    CHECK_THROWS_WITH(check_same(kernel, result, reference(kernel, operands, 2)), Catch::Contains("chain 5, lane 3"));
}

TEST_CASE("chains stay normal numbers over many iterations, in every precision of this machine")
{
    for_every_mix_here([](const Isa& isa, Precision precision, const std::string&, const Mix& mix) {
        const ComputeKernel kernel(isa, precision, mix);
        const RegisterFile result = run(kernel, steady_operands(kernel), 20'000);
        REQUIRE_NOTHROW(check_normal(kernel, result));
        for (int chain = 0; chain < mix.chains(); ++chain) REQUIRE(std::abs(result.at(chain, 0)) < 1e17);
    });
}

TEST_CASE("chains of additions pass no zero on their way, in fp16 with its few numbers")
{
    const ComputeKernel kernel = kernel_of("avx512", Precision::fp16, {{{Arithmetic::add, 16}}});
    for (const int iterations : {1, 2, 3, 100})
        CHECK_NOTHROW(check_normal(kernel, reference(kernel, steady_operands(kernel), iterations)));
}

TEST_CASE("alternating operations return to their start values after any number of steps")
{
    for (const Arithmetic kind : {Arithmetic::mul, Arithmetic::div}) {
        for (const Precision precision : {Precision::fp64, Precision::fp32}) {
            CAPTURE(name(kind), traits(precision).name);
            const ComputeKernel kernel = kernel_of("sse", precision, {{{kind, 12}}});
            const Operands operands = steady_operands(kernel);
            CHECK_NOTHROW(check_same(kernel, run(kernel, operands, 1'000'000), operands.start));
        }
    }
}

TEST_CASE("a value that is not normal is an error, in every accumulator format")
{
    const ComputeKernel kernel = kernel_of("avx512", Precision::fp16, {{{Arithmetic::add, 6}}});
    RegisterFile result = steady_operands(kernel).start;
    CHECK_NOTHROW(check_normal(kernel, result));
    result.set(1, 2, 0);
    CHECK_THROWS_WITH(check_normal(kernel, result), Catch::Contains("chain 1, lane 2"));
}

TEST_CASE("the host's fp16 divisions and roots also return to their start values")
{
    const ComputeKernel divisions = kernel_of("avx512", Precision::fp16, {{{Arithmetic::div, 6}}});
    const Operands operands = steady_operands(divisions);
    CHECK_NOTHROW(check_same(divisions, reference(divisions, operands, 1000), operands.start));
    const ComputeKernel roots = kernel_of("avx512", Precision::fp16, {{{Arithmetic::sqrt, 6}}});
    CHECK(reference(roots, steady_operands(roots), 1000).at(0, 0) == 1 - 0x1p-11);
}

TEST_CASE("a product of tiles is a product of matrices")
{
    const ComputeKernel kernel = kernel_of("amx", Precision::int8, {{{Arithmetic::tile, 4}}});
    CHECK(kernel.lanes() == 256);
    Operands operands = telling_operands(kernel);
    for (const int constant : {0, 1, 2}) operands.constants.broadcast(constant, 0);
    operands.constants.set(0, 3 * 64 + 4 * 7 + 2, 5);    // row 3, element 2 of group 7
    operands.constants.set(1, 7 * 64 + 4 * 11 + 2, -6);  // row 7, element 2 of column 11
    const RegisterFile result = reference(kernel, operands, 1);
    const auto change = [&](int row, int column) {
        return result.at(0, row * 16 + column) - operands.start.at(0, row * 16 + column);
    };
    CHECK(change(3, 11) == 5 * -6 * 3);  // every second of the chain's six steps
    CHECK(change(3, 10) == 0);
    CHECK(change(4, 11) == 0);
}

TEST_CASE("an avx512 instruction counts as many FLOPs as its documentation says")
{
    const auto each = [](Precision precision, Arithmetic kind) {
        const ComputeKernel kernel = kernel_of("avx512", precision, {{{kind, 12}}});
        return kernel.flops_per_iteration() / static_cast<double>(decode(kernel.loop()).size());
    };
    CHECK(each(Precision::fp64, Arithmetic::fma) == 16);
    CHECK(each(Precision::fp32, Arithmetic::fma) == 32);
    CHECK(each(Precision::fp32, Arithmetic::sqrt) == 16);
    CHECK(each(Precision::fp16, Arithmetic::fma) == 64);
    CHECK(each(Precision::bf16, Arithmetic::dot) == 64);
    CHECK(each(Precision::int8, Arithmetic::dot) == 128);
    CHECK(flops_of(Arithmetic::tile, Precision::bf16) * 256 == 16384);
    CHECK(flops_of(Arithmetic::tile, Precision::int8) * 256 == 32768);
}

TEST_CASE("every chain of a mix has an even number of steps, and each strand has its share")
{
    for_every_mix(all_features, [](const Isa&, Precision, const std::string&, const Mix& mix) {
        std::vector<int> of_chain(mix.chains());
        std::vector<double> of_strand(mix.strands.size());
        for (const Step& step : body(mix)) {
            ++of_chain[step.accumulator];
            ++of_strand[step.accumulator < mix.strands.front().chains ? 0 : 1];
        }
        for (const int steps : of_chain) REQUIRE((steps > 0 && steps % 2 == 0));
        int chain = 0;
        for (std::size_t i = 0; i < mix.strands.size(); ++i) {
            const Strand& strand = mix.strands[i];
            const auto first = of_chain.begin() + chain;
            REQUIRE(std::set<int>(first, first + strand.chains).size() == 1);
            REQUIRE(of_strand[i] / strand.share == of_strand[0] / mix.strands[0].share);
            chain += strand.chains;
        }
    });
}

TEST_CASE("a mix has a description")
{
    CHECK(Mix{{{Arithmetic::fma, 12}}}.description() == "12 fma chains");
    CHECK(Mix{{{Arithmetic::fma, 12}, {Arithmetic::add, 12}}}.description() == "12 fma + 12 add chains");
    CHECK(Mix{{{Arithmetic::fma, 20, 2}, {Arithmetic::add, 10}}}.description() ==
          "20 fma + 10 add chains, 2 : 1 instructions");
}

TEST_CASE("a kernel that no processor supports is unsupported, and one with too few registers is an error")
{
    CHECK_THROWS_AS(kernel_of("sse", Precision::bf16, {{{Arithmetic::dot, 4}}}), Unsupported);
    CHECK_THROWS_AS(kernel_of("avx2", Precision::fp16, {{{Arithmetic::add, 4}}}), Unsupported);
    CHECK_THROWS_AS(kernel_of("avx512", Precision::tf32, {{{Arithmetic::fma, 4}}}), Unsupported);
    CHECK_THROWS_AS(kernel_of("avx512", Precision::int8, {{{Arithmetic::tile, 4}}}), Unsupported);
    CHECK_THROWS_AS(kernel_of("avx2", Precision::fp32, {{{Arithmetic::fma, 16}}}), Error);
    CHECK_THROWS_AS(kernel_of("amx", Precision::bf16, {{{Arithmetic::tile, 6}}}), Error);
}
