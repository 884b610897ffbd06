// What the loops for AArch64 have to give, computed on the host. usage: expected neon|sve<bits> RESULTS
//
// Prints a line per loop: bytes of its results, iterations, then per iteration FLOPs, bytes loaded and stored,
// instructions, and a name. RESULTS: the results of all loops, one behind the other: accumulators, the array stored, or
// the registers of loads.
#include "cpu/kernels/chase.hpp"
#include "cpu/kernels/core_probe.hpp"
#include "cpu/kernels/reference.hpp"
#include "tests/aarch64/cases.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>

using namespace roof;
using namespace roof::cpu;
using namespace roof::tests;

namespace {

static_assert(chase_loads == ChaseKernel::unroll && chain_operations == CoreProbe::operations);

using Words = std::vector<std::uint64_t>;

/// The registers at the end of a loop that only reads.
Words expected_values(const StreamCase& one, std::size_t register_words)
{
    const Form& form = one.form;
    Words values(values_of(form) * register_words);
    const std::size_t part_words = one.bytes / 8 / form.parts;
    for (std::size_t pass = 0; pass < stream_passes; ++pass) {
        for (std::size_t i = 0; i < part_words; ++i) {
            for (int part = 0; part < form.parts; ++part) {
                const std::size_t vector = i / register_words % form.vectors;
                std::uint64_t& value =
                    values[(vector * form.parts + part) % values_of(form) * register_words + i % register_words];
                const std::uint64_t read = word(0, part * part_words + i);
                if (form.join == Join::none) value = read;
                if (form.join == Join::sum) value += read;
                if (form.join == Join::bits) value |= read;
                if (form.join == Join::maximum) value = std::max(value, read);
            }
        }
    }
    return values;
}

Words expected_destination(const StreamCase& one)
{
    const ArrayOperation& stream = one.stream;
    Words destination;
    for (std::size_t i = 0; i < one.bytes / 8; ++i) {
        const double b = std::bit_cast<double>(word(0, i));
        const double c = std::bit_cast<double>(word(1, i));
        std::uint64_t value = std::bit_cast<std::uint64_t>(stored_number);
        if (stream.name == "copy") value = word(0, i);
        if (stream.name == "triad")
            value =
                std::bit_cast<std::uint64_t>(one.form.fused ? std::fma(stored_number, c, b) : b + stored_number * c);
        if (stream.name == "update") value = word(0, i) + stream_passes * added_word;
        if (stream.name == "accumulate") value = word(1, i) + stream_passes * word(0, i);
        if (stream.name == "accumulate_two") value = word(2, i) + stream_passes * (word(0, i) + word(1, i));
        destination.push_back(value);
    }
    return destination;
}

/// Instructions of an iteration on a machine whose arithmetic has no operand in memory: the loads and stores, the
/// arithmetic, the prefetches, a step of each pointer, and two for the loop.
int instructions_of(const StreamCase& one, int register_bytes)
{
    const ArrayOperation& stream = one.stream;
    const int vectors = one.form.vectors * one.form.parts;
    int arithmetic = stream.loads() - 1;  // joins the arrays
    if (stream.only_reads()) arithmetic = one.form.join == Join::none ? 0 : 1;
    if (stream.loads() == 0) arithmetic = 0;
    if (stream.name == "update" || (stream.name == "triad" && !one.form.fused)) ++arithmetic;
    const int lines = std::max(1, one.form.vectors * register_bytes / 64) * one.form.parts;
    const int prefetches = one.form.ahead > 0 ? stream.loads() * lines : 0;
    return vectors * (stream.moves() + arithmetic) + prefetches + stream.arrays() * one.form.parts + 2;
}

void print(std::size_t result_bytes, std::size_t iterations, double flops, std::size_t loaded, std::size_t stored,
           std::size_t instructions, const std::string& name)
{
    std::printf("%zu %zu %.0f %zu %zu %zu %s\n", result_bytes, iterations, flops, loaded, stored, instructions,
                name.c_str());
}

void append(std::ofstream& to, const void* from, std::size_t bytes)
{
    to.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes));
}

/// The first of the chains.
std::uint64_t expected_chain(const ChainCase& one)
{
    std::uint64_t value = 1;
    for (int i = 0; i < chain_iterations * chain_operations / one.chains; ++i)
        value = one.multiplies ? value * 3 : value + 3;
    return value;
}

}  // namespace

int main(int, char** argv)
{
    const Isa isa = parse_case_isa(argv[1]);
    std::ofstream results(argv[2], std::ios::binary);
    for (const ComputeCase& one : compute_cases(isa)) {
        const ComputeLoop loop(isa, one.precision, one.mix);
        const RegisterFile expected = reference(loop, telling_operands(loop), compute_iterations);
        const auto bytes = static_cast<std::size_t>(one.mix.chains() * isa.register_bytes);
        append(results, expected.data(), bytes);
        print(bytes, compute_iterations, loop.flops_per_iteration(), 0, 0, loop.steps().size() + 2,
              std::string(traits(one.precision).name) + " " + one.mix.description());
    }
    for (const StreamCase& one : stream_cases(isa)) {
        const Words expected =
            one.stream.only_reads() ? expected_values(one, isa.register_bytes / 8) : expected_destination(one);
        append(results, expected.data(), expected.size() * 8);
        const std::size_t bytes = one.bytes / stream_iterations;
        print(expected.size() * 8, stream_passes * stream_iterations,
              one.stream.flops() * static_cast<double>(bytes) / 8, bytes * one.stream.loads(),
              bytes * one.stream.stores, static_cast<std::size_t>(instructions_of(one, isa.register_bytes)),
              std::string(one.stream.name) + " " + one.form.text(one.stream));
    }
    const std::uint64_t line = chase_steps * chase_stride % chase_lines * 64;
    append(results, &line, sizeof line);
    print(sizeof line, chase_steps / chase_loads, 0, chase_loads * sizeof(std::byte*), 0, chase_loads + 2, "chase");
    for (const ChainCase& one : chain_cases) {
        const std::uint64_t value = expected_chain(one);
        append(results, &value, sizeof value);
        print(sizeof value, chain_iterations, 0, 0, 0, chain_operations + 2, one.name);
    }
}
