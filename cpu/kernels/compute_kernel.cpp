// Registers: accumulators from 0 up; the last register holds the first constant, the one before it the second, and so
// on. System V calling convention: the kernel may overwrite every vector register and tile.
#include "cpu/kernels/compute_kernel.hpp"

#include "cpu/kernels/operations.hpp"
#include "ert/base/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <tuple>

namespace roof::cpu {

namespace {

struct Kind {
    Arithmetic value;
    std::string_view name;
    int constants;
    int first_in_turn = 0;  ///< steps read the constants from this one on in turns
    int scratch = 0;        ///< further registers
};

constexpr std::array<Kind, 8> kinds{{{Arithmetic::fma, "fma", 1},
                                     {Arithmetic::mul, "mul", 1},
                                     {Arithmetic::add, "add", 1},
                                     {Arithmetic::div, "div", 2},
                                     {Arithmetic::sqrt, "sqrt", 0},
                                     {Arithmetic::dot, "dot", 3, 1},
                                     {Arithmetic::tile, "tile", 3, 1},
                                     {Arithmetic::widened, "widened", 3, 1, 5}}};

const Kind& row(Arithmetic kind)
{
    return *std::ranges::find(kinds, kind, &Kind::value);
}

int constant_in_turn(const Kind& kind, int turn)
{
    return kind.first_in_turn + turn % std::max(1, kind.constants - kind.first_in_turn);
}

/// Rounds after which each chain of every strand has the same number of pairs of steps.
int rounds_of(const Mix& mix)
{
    int rounds = 1;
    for (const Strand& strand : mix.strands) {
        const int pairs = 2 * strand.chains;
        rounds = std::lcm(rounds, pairs / std::gcd(pairs, strand.share));
    }
    return rounds;
}

constexpr std::size_t loop_alignment = 64;
constexpr int tile_rows = 16;
constexpr int tile_row_bytes = 64;

/// Tile configuration, palette 1: bytes per row and rows of each tile. Source: Intel's manual, volume 1.
struct alignas(64) TileConfiguration {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::array<std::uint8_t, 14> reserved{};
    std::array<std::uint16_t, 16> row_bytes{};
    std::array<std::uint8_t, 16> rows{};
};
static_assert(sizeof(TileConfiguration) == 64);

constexpr TileConfiguration whole_tiles()
{
    TileConfiguration configuration;
    for (int tile = 0; tile < tile_isa.registers; ++tile) {
        configuration.row_bytes[tile] = tile_row_bytes;
        configuration.rows[tile] = tile_rows;
    }
    return configuration;
}

constexpr TileConfiguration tile_configuration = whole_tiles();

}  // namespace

std::string_view name(Arithmetic kind)
{
    return row(kind).name;
}

int flops_of(Arithmetic kind, Precision precision)
{
    constexpr int lane_bytes = 4;
    constexpr int row_bytes = 64;
    const int element_bytes = traits(precision).storage_bytes;
    switch (kind) {
        case Arithmetic::fma:
            return 2;
        case Arithmetic::dot:
        case Arithmetic::widened:
            return 2 * lane_bytes / element_bytes;
        case Arithmetic::tile:
            return 2 * row_bytes / element_bytes;
        default:
            return 1;
    }
}

int Mix::chains() const
{
    return std::accumulate(strands.begin(), strands.end(), 0, [](int sum, const Strand& s) { return sum + s.chains; });
}

int Mix::constants() const
{
    int most = 0;
    for (const Strand& strand : strands) most = std::max(most, row(strand.kind).constants);
    return most;
}

int Mix::scratch() const
{
    return row(strands.front().kind).scratch;
}

bool Mix::sums_products() const
{
    return uses(Arithmetic::dot) || uses(Arithmetic::tile) || uses(Arithmetic::widened);
}

bool Mix::uses(Arithmetic kind) const
{
    return std::any_of(strands.begin(), strands.end(), [&](const Strand& strand) { return strand.kind == kind; });
}

std::string Mix::description() const
{
    std::string chains_of_each;
    std::string shares;
    for (const Strand& strand : strands) {
        chains_of_each += (chains_of_each.empty() ? "" : " + ") + std::to_string(strand.chains) + " ";
        chains_of_each += name(strand.kind);
        shares += (shares.empty() ? "" : " : ") + std::to_string(strand.share);
    }
    const bool equal = strands.front().share == strands.back().share;
    return chains_of_each + " chains" + (equal ? "" : ", " + shares + " instructions");
}

std::vector<Step> body(const Mix& mix)
{
    constexpr std::size_t least = 24;  // makes the loop's own two instructions negligible
    std::vector<Step> steps;
    std::vector<int> done(mix.strands.size());
    const int rounds = rounds_of(mix);
    while (steps.size() < least) {
        for (int round = 0; round < rounds; ++round) {
            int first_chain = 0;
            for (std::size_t i = 0; i < mix.strands.size(); ++i) {
                const Strand& strand = mix.strands[i];
                for (int k = 0; k < strand.share; ++k, ++done[i]) {
                    const int turn = done[i] / strand.chains;
                    steps.push_back(
                        {strand.kind, first_chain + done[i] % strand.chains, constant_in_turn(row(strand.kind), turn)});
                }
                first_chain += strand.chains;
            }
        }
    }
    return steps;
}

double flops_per_lane(const std::vector<Step>& steps, Precision precision)
{
    return std::accumulate(steps.begin(), steps.end(), 0.0,
                           [&](double sum, const Step& step) { return sum + flops_of(step.operation, precision); });
}

ComputeKernel::ComputeKernel(const Isa& isa_row, Precision precision, const Mix& mix)
    : Emitter(isa_row, precision),
      precision_(precision),
      mix_(mix),
      steps_(body(mix_)),
      flops_per_iteration_(flops_per_lane(steps_, precision) * lanes())
{
    for (const Strand& strand : mix_.strands) {
        if (const auto reason = contradiction(name(strand.kind), isa_row, precision)) throw Unsupported(*reason);
    }
    if (mix_.chains() + mix_.constants() + mix_.scratch() > isa_row.registers) {
        throw Error(mix_.description() + " are too many for the registers of " + std::string(isa_row.name));
    }
    generate();
}

Format ComputeKernel::accumulator_format() const
{
    if (!mix_.sums_products()) return format_of(precision_);
    return precision_ == Precision::int8 ? int32_format : fp32_format;
}

int ComputeKernel::lanes() const
{
    return 8 * operand_bytes() / accumulator_format().storage_bits;
}

void ComputeKernel::run(std::size_t iterations, const std::byte* start, const std::byte* constants,
                        std::byte* result) const
{
    using Function = void (*)(std::size_t, const std::byte*, const std::byte*, std::byte*);
    getCode<Function>()(iterations, start, constants, result);
}

void ComputeKernel::generate()
{
    const auto& [start, constants, result] = std::tie(rsi, rdx, rcx);
    if (has_tiles()) {
        mov(rax, reinterpret_cast<std::uintptr_t>(&tile_configuration));
        ldtilecfg(ptr[rax]);
        mov(rax, tile_row_bytes);  // the stride of all loads and stores
    }
    for (int i = 0; i < mix_.chains(); ++i) read(i, start, i);
    for (int i = 0; i < mix_.constants(); ++i) read(constant_register(i), constants, i);
    if (mix_.uses(Arithmetic::widened)) {
        upper_halves(scratch_register(4));
        widen_constant(0, 0);
    }
    emit_loop();
    for (int i = 0; i < mix_.chains(); ++i) write(result, i);
    if (has_tiles()) tilerelease();
    finish();
}

void ComputeKernel::emit_loop()
{
    const auto& iterations = rdi;
    Xbyak::Label loop_start;
    align(loop_alignment);
    L(loop_start);
    mark_loop_begin();
    for (const Step& step : steps_) emit(step);
    mark_loop_end();
    dec(iterations);
    jnz(loop_start, T_NEAR);
}

void ComputeKernel::emit(const Step& step)
{
    const int first = constant_register(0);
    const int constant = constant_register(step.constant);
    switch (step.operation) {
        case Arithmetic::fma:
            return multiply_add(step.accumulator, constant, vector(constant));
        case Arithmetic::mul:
            return multiply(step.accumulator, vector(constant));
        case Arithmetic::add:
            return accumulate(step.accumulator, vector(constant));
        case Arithmetic::div:
            return divide(step.accumulator, vector(constant));
        case Arithmetic::sqrt:
            return square_root(step.accumulator);
        case Arithmetic::dot:
            return add_products(step.accumulator, first, constant);
        case Arithmetic::tile:
            return add_tile_product(step.accumulator, first, constant);
        case Arithmetic::widened:
            if (widened_ != step.constant) widen_constant(step.constant, 2);
            widened_ = step.constant;
            add_fp32_product(step.accumulator, scratch_register(0), scratch_register(2));
            return add_fp32_product(step.accumulator, scratch_register(1), scratch_register(3));
    }
}

void ComputeKernel::widen_constant(int constant, int first_scratch)
{
    widen(scratch_register(first_scratch), scratch_register(first_scratch + 1), constant_register(constant),
          scratch_register(4));
}

void ComputeKernel::read(int register_index, const Xbyak::Reg64& from, int position)
{
    if (has_tiles()) return tileloadd(Xbyak::Tmm(register_index), ptr[place_of(position, from) + rax]);
    load(register_index, ptr[place_of(position, from)]);
}

void ComputeKernel::write(const Xbyak::Reg64& to, int position)
{
    if (has_tiles()) return tilestored(ptr[place_of(position, to) + rax], Xbyak::Tmm(position));
    store(ptr[place_of(position, to)], position);
}

}  // namespace roof::cpu
