// Registers: accumulators from 0 up, then scratch registers and constants. System V calling convention: the kernel may
// overwrite every vector register and tile.
#include "cpu/kernels/compute_kernel.hpp"

#include <array>
#include <cstdint>
#include <tuple>

namespace roof::cpu {
namespace {

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

ComputeKernel::ComputeKernel(const Isa& isa_row, Precision precision, const Mix& mix)
    : ComputeLoop(isa_row, precision, mix), Emitter(isa_row, precision)
{
    generate();
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
    for (int i = 0; i < mix().chains(); ++i) read(i, start, i);
    for (int i = 0; i < mix().constants(); ++i) read(constant_register(i), constants, i);
    if (mix().uses(Arithmetic::widened)) {
        upper_halves(scratch_register(4));
        widen_constant(0, 0);
    }
    emit_loop();
    for (int i = 0; i < mix().chains(); ++i) write(result, i);
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
    for (const Step& step : steps()) emit(step);
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
