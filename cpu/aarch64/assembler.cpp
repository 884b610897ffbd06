#include "cpu/aarch64/assembler.hpp"

#include "ert/base/error.hpp"

#include <array>
#include <initializer_list>
#include <string>

namespace roof::cpu::aarch64 {
namespace {

/// The words of an operation without its registers. NEON has three ways to say the size of elements, SVE one.
struct VectorOpcode {
    Vector operation;
    std::uint32_t neon;       ///< of fp32, or of the one size there is
    std::uint32_t neon_half;  ///< of fp16
    std::uint32_t sve;        ///< of size 0, or of the one size there is
    bool has_sizes;
    bool overwrites_first;  ///< in SVE: the destination is the first operand
};

constexpr std::array<VectorOpcode, 9> rows{{
    {Vector::multiply_add, 0x4e20cc00, 0x4e400c00, 0x65200000, true, false},
    {Vector::add, 0x4e20d400, 0x4e401400, 0x65000000, true, false},
    {Vector::multiply, 0x6e20dc00, 0x6e401c00, 0x65000800, true, false},
    {Vector::divide, 0x6e20fc00, 0x6e403c00, 0x650d8000, true, true},
    {Vector::square_root, 0x6ea1f800, 0x6ef9f800, 0x650da000, true, false},
    {Vector::maximum, 0x4e60f400, 0, 0x65c68000, false, true},
    {Vector::add_words, 0x4ee08400, 0, 0x04e00000, false, false},
    {Vector::join_bits, 0x4ea01c00, 0, 0x04603000, false, false},
    {Vector::differ, 0x6e201c00, 0, 0x04a03000, false, false},
}};
constexpr VectorOpcode products_of_bf16{Vector::add_products, 0x6e40fc00, 0, 0x64608000, false, false};
constexpr VectorOpcode products_of_int8{Vector::add_products, 0x4e809c00, 0, 0x44807800, false, false};

const VectorOpcode& row_of(Vector operation, Precision precision)
{
    if (operation == Vector::add_products) return precision == Precision::bf16 ? products_of_bf16 : products_of_int8;
    for (const VectorOpcode& row : rows)
        if (row.operation == operation) return row;
    throw Error("an operation without a row");
}

std::uint32_t sized(const VectorOpcode& row, bool is_sve, Precision precision)
{
    const bool is_double = precision == Precision::fp64;
    if (!row.has_sizes) return is_sve ? row.sve : row.neon;
    if (is_sve) return row.sve | (is_double ? 3U : precision == Precision::fp32 ? 2U : 1U) << 22;
    return precision == Precision::fp16 ? row.neon_half : row.neon | (is_double ? 1U << 22 : 0U);
}

/// Registers in their fields: destination, first and second operand.
constexpr std::uint32_t fields(int destination, int first = 0, int second = 0)
{
    return static_cast<std::uint32_t>(destination | first << 5 | second << 16);
}

std::uint32_t constant_field(std::size_t constant)
{
    constexpr std::size_t most = 4095;
    if (constant > most) throw Error("an instruction has no room for the constant " + std::to_string(constant));
    return static_cast<std::uint32_t>(constant) << 10;
}

}  // namespace

void Assembler::vector(Vector operation, int destination, int first, int second)
{
    const VectorOpcode& row = row_of(operation, precision_);
    const std::uint32_t word = sized(row, is_sve(), precision_);
    if (is_sve() && row.overwrites_first) {
        if (destination != first) throw Error("SVE overwrites the first operand");
        return put(word | fields(destination, second));
    }
    put(word | fields(destination, first, operation == Vector::square_root ? 0 : second));
}

void Assembler::move(bool is_store, int vector, int pointer, int index)
{
    const auto at = static_cast<std::uint32_t>(index);
    if (!is_sve()) return put((is_store ? 0x3d800000U : 0x3dc00000U) | constant_field(at) | fields(vector, pointer));
    put((is_store ? 0xe5804000U : 0x85804000U) | (at >> 3) << 16 | constant_field(at & 7) | fields(vector, pointer));
}

void Assembler::prefetch(int pointer, int offset)
{
    put(0xf9800000U | constant_field(static_cast<std::size_t>(offset) / 8) | fields(0, pointer));
}

void Assembler::load_pointer(int destination, int pointer, std::size_t offset)
{
    put(0xf9400000U | constant_field(offset / 8) | fields(destination, pointer));
}

void Assembler::copy(int destination, int source)
{
    constexpr int zero = 31;
    put(0xaa000000U | fields(destination, zero, source));
}

void Assembler::add(int destination, int first, int second)
{
    put(0x8b000000U | fields(destination, first, second));
}

void Assembler::subtract(int destination, int first, int second)
{
    put(0xcb000000U | fields(destination, first, second));
}

void Assembler::multiply(int destination, int first, int second)
{
    put(0x9b007c00U | fields(destination, first, second));
}

void Assembler::set(int reg, int constant)
{
    put(0xd2800000U | static_cast<std::uint32_t>(constant) << 5 | fields(reg));
}

void Assembler::halve(int reg, int times)
{
    put(0xd340fc00U | fields(reg, reg, times));
}

void Assembler::add_constant(int reg, int constant)
{
    put(0x91000000U | constant_field(static_cast<std::size_t>(constant)) | fields(reg, reg));
}

void Assembler::subtract_constant(int reg, int constant)
{
    put(0xf1000000U | constant_field(static_cast<std::size_t>(constant)) | fields(reg, reg));
}

void Assembler::branch_unless_zero(std::size_t target)
{
    constexpr std::uint32_t nineteen_bits = 0x7ffff;
    put(0x54000001U | (static_cast<std::uint32_t>(target - size()) & nineteen_bits) << 5);
}

void Assembler::align(std::size_t words)
{
    constexpr std::uint32_t no_operation = 0xd503201f;
    while (size() % words != 0) put(no_operation);
}

/// The lower halves of v8 to v15, on the stack.
void Assembler::begin()
{
    for (const std::uint32_t word : {0x6dbc27e8U, 0x6d012feaU, 0x6d0237ecU, 0x6d033feeU}) put(word);
    if (is_sve()) put(0x2518e3e0);  // ptrue p0.b
}

void Assembler::end()
{
    for (const std::uint32_t word : {0x6d412feaU, 0x6d4237ecU, 0x6d433feeU, 0x6cc427e8U, 0xd65f03c0U}) put(word);
}

}  // namespace roof::cpu::aarch64
