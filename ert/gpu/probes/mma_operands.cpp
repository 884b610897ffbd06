#include "ert/gpu/probes/mma_operands.hpp"

#include "ert/gpu/kernels/fragments.hpp"

#include <array>

namespace roof::gpu {

namespace {

/// `element`: of a matrix, by lane, register and place in the register.
template <class ElementOf>
std::vector<std::byte> lanes_of(Mma instruction, const std::vector<Matrix>& matrices, int registers,
                                const ElementOf& element)
{
    const int packed = shape_of(instruction).packed;
    std::vector<double> values;
    for (const Matrix& matrix : matrices) {
        for (int i = 0; i < 32 * registers * packed; ++i) {
            const int reg = i / packed;
            const Element at = element(reg / registers, reg % registers, i % packed);
            values.push_back(matrix.at(at.row, at.column));
        }
    }
    return encode(operand_format(instruction), values);
}

Format format_of_sums(Mma instruction)
{
    if (instruction == Mma::int8) return int32_format;
    if (instruction == Mma::fp16_sums) return fp16_format;
    return shape_of(instruction).register_bytes == 8 ? fp64_format : fp32_format;
}

}  // namespace

Format operand_format(Mma instruction)
{
    constexpr std::array formats{fp64_format, fp64_format, tf32_format, fp16_format, bf16_format,
                                 int8_format, e4m3_format, e5m2_format, fp16_format};
    return formats[static_cast<std::size_t>(instruction)];
}

MmaOperands mma_operands(Mma instruction, Numbers numbers)
{
    const MmaShape shape = shape_of(instruction);
    const Format format = operand_format(instruction);
    std::uint32_t seed = 1;
    MmaOperands operands;
    operands.a.push_back(random_matrix(shape.m, shape.k, format, numbers, seed++));
    operands.a.push_back(numbers == Numbers::random ? negated(operands.a.front())
                                                    : random_matrix(shape.m, shape.k, format, numbers, seed++));
    for (int chain = 0; chain < max_mma_chains; ++chain)
        operands.b.push_back(random_matrix(shape.k, shape.n, format, numbers, seed++));
    return operands;
}

std::vector<std::byte> lanes_of_a(Mma instruction, const MmaOperands& operands)
{
    const MmaShape shape = shape_of(instruction);
    return lanes_of(instruction, operands.a, shape.a_registers, [&](int lane, int reg, int place) {
        return shape.m == 8 ? element_of_small_a(lane) : element_of_a(lane, reg, place, shape.packed);
    });
}

std::vector<std::byte> lanes_of_b(Mma instruction, const MmaOperands& operands)
{
    const MmaShape shape = shape_of(instruction);
    return lanes_of(instruction, operands.b, shape.b_registers,
                    [&](int lane, int reg, int place) { return element_of_b(lane, reg, place, shape.packed); });
}

std::vector<std::byte> lanes_of_sums(Mma instruction, int chains, const MmaOperands& operands, int steps)
{
    const MmaShape shape = shape_of(instruction);
    const double times_each = 1.0 * steps * mma_instructions / chains / mma_factors;
    std::vector<double> values;
    for (int chain = 0; chain < chains; ++chain) {
        const Matrix sums = sums_of_products(operands.a, operands.b[static_cast<std::size_t>(chain)], times_each);
        const int of_lane = shape.sum_registers * shape.packed_sums;
        for (int i = 0; i < 32 * of_lane; ++i) {
            const Element at = element_of_sums(i / of_lane, i % of_lane);
            values.push_back(sums.at(at.row, at.column));
        }
    }
    return encode(format_of_sums(instruction), values);
}

}  // namespace roof::gpu
