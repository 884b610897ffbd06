#include "ert/gpu/probes/tensor_operands.hpp"

#include "ert/gpu/kernels/fragments.hpp"
#include "ert/gpu/kernels/tcgen05.hpp"

#include <cmath>
#include <cstring>

namespace roof::gpu {

namespace {

std::uint32_t bits_of_scale(TensorFormat instruction, double scale)
{
    if (instruction == TensorFormat::nvfp4) return static_cast<std::uint32_t>(encode(e4m3_format, scale));
    return static_cast<std::uint32_t>(127 + std::ilogb(scale));  // ue8m0
}

std::uint32_t word_of_scales(TensorFormat instruction, const Matrix& scales, int row, int first, int count)
{
    std::uint32_t word = 0;
    for (int i = 0; i < count; ++i) word |= bits_of_scale(instruction, scales.at(row, first + i)) << 8 * i;
    return word;
}

/// `element`: of a matrix, by lane, register and place in the register. `line`: whose `scales` a lane has behind its
/// registers.
template <class ElementOf>
std::vector<std::byte> lanes_of(TensorFormat instruction, const std::vector<Matrix>& matrices,
                                const std::vector<Matrix>& scales, int registers, int (*line)(int lane),
                                const ElementOf& element)
{
    const Format format = operand_format(instruction);
    const MmaShape shape = shape_of(instruction);
    std::vector<std::byte> bytes;
    const auto append = [&](std::uint64_t bits, int count) {
        for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(bits >> 8 * i));
    };
    for (std::size_t i = 0; i < matrices.size(); ++i) {
        for (int lane = 0; lane < 32; ++lane) {
            for (int reg = 0; reg < registers; ++reg) {
                std::uint64_t bits = 0;
                for (int place = 0; place < shape.packed; ++place) {
                    const Element at = element(lane, reg, place);
                    bits |= encode(format, matrices[i].at(at.row, at.column)) << place * format.storage_bits;
                }
                append(bits, shape.register_bytes);
            }
            if (shape.scale_words > 0)
                append(word_of_scales(instruction, scales[i], line(lane), 0, scales[i].columns), shape.register_bytes);
        }
    }
    return bytes;
}

int row_length(TensorFormat instruction)
{
    return wgmma_row_bytes * 8 / operand_format(instruction).storage_bits;
}

void lay_out(const Format& format, const Matrix& matrix, std::byte* to)
{
    for (int row = 0; row < matrix.rows; ++row) {
        for (int k = 0; k < matrix.columns; ++k) {
            const std::uint64_t bits = encode(format, matrix.at(row, k));
            std::byte* const at = to + wgmma_offset(row, k * format.storage_bits / 8);
            if (format.storage_bits >= 8)
                std::memcpy(at, &bits, static_cast<std::size_t>(format.storage_bits / 8));
            else
                *at |= static_cast<std::byte>(bits << (k % 2 * format.storage_bits));  // the first is the lower half
        }
    }
}

/// 1/2, 1 or 2: exact in both formats of scales.
Matrix random_scales(int rows, int of_row, std::uint32_t seed)
{
    Matrix scales = random_matrix(rows, of_row, fp32_format, Numbers::whole, seed);
    for (double& scale : scales.values) scale = std::ldexp(1.0, static_cast<int>(std::abs(scale)) - 2);
    return scales;
}

/// One group of columns after the other.
void lay_out_scales(TensorFormat instruction, const Matrix& scales, std::vector<std::uint32_t>& words)
{
    for (int first = 0; first < scales.columns; first += scales_of_word) {
        for (int row = 0; row < scales.rows; ++row)
            words.push_back(word_of_scales(instruction, scales, row, first, scales_of_word));
    }
}

Matrix scaled(Matrix matrix, const Matrix& scales)
{
    if (scales.values.empty()) return matrix;
    for (int row = 0; row < matrix.rows; ++row) {
        for (int k = 0; k < matrix.columns; ++k)
            matrix.values[static_cast<std::size_t>(row) * matrix.columns + k] *=
                scales.at(row, k * scales.columns / matrix.columns);
    }
    return matrix;
}

Matrix transposed(const Matrix& matrix)
{
    Matrix result{matrix.columns, matrix.rows, std::vector<double>(matrix.values.size())};
    for (int row = 0; row < matrix.rows; ++row) {
        for (int column = 0; column < matrix.columns; ++column)
            result.values[static_cast<std::size_t>(column) * matrix.rows + row] = matrix.at(row, column);
    }
    return result;
}

Matrix sums_of(TensorFormat instruction, const WgmmaOperands& operands, int steps)
{
    const Matrix second = is_added(instruction) ? operands.a[1] : negated(operands.a[1]);
    return sums_of_products({scaled(operands.a[0], operands.scales_of_a), scaled(second, operands.scales_of_a)},
                            transposed(scaled(operands.b, operands.scales_of_b)), steps);
}

}  // namespace

MmaOperands mma_operands(TensorFormat instruction, Numbers numbers)
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
    if (const int scales = scales_of_mma(instruction); scales != 0) {
        const Matrix of_a = random_scales(shape.m, scales, seed++);
        operands.scales_of_a.assign(operands.a.size(), of_a);  // the same, for one A may be to cancel the other
        for (int chain = 0; chain < max_mma_chains; ++chain)
            operands.scales_of_b.push_back(random_scales(shape.n, scales, seed++));
    }
    return operands;
}

std::vector<std::byte> lanes_of_a(TensorFormat instruction, const MmaOperands& operands)
{
    const MmaShape shape = shape_of(instruction);
    return lanes_of(instruction, operands.a, operands.scales_of_a, shape.a_registers, row_of_scale,
                    [&](int lane, int reg, int place) {
                        if (instruction == TensorFormat::volta_fp16) return element_of_volta_a(lane, reg, place);
                        return shape.m == 8 ? element_of_small_a(lane, place, shape.packed)
                                            : element_of_a(lane, reg, place, shape.packed);
                    });
}

std::vector<std::byte> lanes_of_b(TensorFormat instruction, const MmaOperands& operands)
{
    const MmaShape shape = shape_of(instruction);
    return lanes_of(instruction, operands.b, operands.scales_of_b, shape.b_registers, column_of_scale,
                    [&](int lane, int reg, int place) {
                        return instruction == TensorFormat::volta_fp16 ? element_of_volta_b(lane, reg, place)
                                                                       : element_of_b(lane, reg, place, shape.packed);
                    });
}

std::vector<std::byte> lanes_of_sums(TensorFormat instruction, int chains, const MmaOperands& operands, int steps)
{
    const MmaShape shape = shape_of(instruction);
    const double times_each = 1.0 * steps * mma_instructions / chains / mma_factors;
    std::vector<Matrix> a = operands.a;
    for (std::size_t i = 0; i < operands.scales_of_a.size(); ++i) a[i] = scaled(a[i], operands.scales_of_a[i]);
    std::vector<double> values;
    for (std::size_t chain = 0; chain < static_cast<std::size_t>(chains); ++chain) {
        Matrix b = operands.b[chain];
        if (!operands.scales_of_b.empty()) b = transposed(scaled(transposed(b), operands.scales_of_b[chain]));
        const Matrix sums = sums_of_products(a, b, times_each);
        const int of_lane = shape.sum_registers;
        for (int i = 0; i < 32 * of_lane; ++i) {
            const Element at = instruction == TensorFormat::volta_fp16 ? element_of_volta_sums(i / of_lane, i % of_lane)
                                                                       : element_of_sums(i / of_lane, i % of_lane);
            values.push_back(sums.at(at.row, at.column));
        }
    }
    return encode(sum_format(instruction), values);
}

WgmmaOperands wgmma_operands(TensorFormat instruction, Numbers numbers, Tile tile)
{
    const Format format = operand_format(instruction);
    const int k = row_length(instruction);
    WgmmaOperands operands;
    operands.a.push_back(random_matrix(tile.m, k, format, numbers, 1));
    operands.a.push_back(random_matrix(tile.m, k, format, numbers, 2));
    if (numbers == Numbers::random) operands.a[1] = is_added(instruction) ? negated(operands.a[0]) : operands.a[0];
    operands.b = random_matrix(tile.n, k, format, numbers, 3);
    if (scales_of_row(instruction) != 0) {
        operands.scales_of_a = random_scales(tile.m, scales_of_row(instruction), 4);
        operands.scales_of_b = random_scales(tile.n, scales_of_row(instruction), 5);
    }
    return operands;
}

std::vector<std::byte> image_of(TensorFormat instruction, const WgmmaOperands& operands)
{
    const Format format = operand_format(instruction);
    const auto bytes_of = [](const Matrix& matrix) { return static_cast<std::size_t>(matrix.rows) * wgmma_row_bytes; };
    const std::size_t of_a = bytes_of(operands.a[0]);
    std::vector<std::byte> image(wgmma_factors * of_a + bytes_of(operands.b));
    lay_out(format, operands.a[0], image.data());
    lay_out(format, operands.a[1], image.data() + of_a);
    lay_out(format, operands.b, image.data() + wgmma_factors * of_a);
    std::vector<std::uint32_t> scales;
    lay_out_scales(instruction, operands.scales_of_a, scales);
    lay_out_scales(instruction, operands.scales_of_b, scales);
    const std::span bytes = std::as_bytes(std::span(scales));
    image.insert(image.end(), bytes.begin(), bytes.end());
    return image;
}

std::vector<std::byte> sums_by_row(TensorFormat instruction, const WgmmaOperands& operands, int steps)
{
    return encode(sum_format(instruction), sums_of(instruction, operands, steps).values);
}

std::vector<std::byte> sums_of_block(TensorFormat instruction, const WgmmaOperands& operands, int steps)
{
    const Matrix sums = sums_of(instruction, operands, steps);
    std::vector<double> values;
    for (int i = 0; i < wgmma_threads * wgmma_sums; ++i) {
        const Element at = element_of_wgmma_sums(i / wgmma_sums, i % wgmma_sums);
        values.push_back(sums.at(at.row, at.column));
    }
    return encode(sum_format(instruction), values);
}

}  // namespace roof::gpu
