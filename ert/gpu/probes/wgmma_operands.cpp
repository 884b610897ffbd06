#include "ert/gpu/probes/wgmma_operands.hpp"

#include <array>
#include <cstring>

namespace roof::gpu {

namespace {

int row_length(Wgmma instruction)
{
    return wgmma_row_bytes * 8 / operand_format(instruction).storage_bits;
}

void lay_out(const Format& format, const Matrix& matrix, std::byte* to)
{
    const int bytes = format.storage_bits / 8;
    for (int row = 0; row < matrix.rows; ++row) {
        for (int k = 0; k < matrix.columns; ++k) {
            const std::uint64_t bits = encode(format, matrix.at(row, k));
            std::memcpy(to + wgmma_offset(row, k * bytes), &bits, static_cast<std::size_t>(bytes));
        }
    }
}

Matrix transposed(const Matrix& matrix)
{
    Matrix turned{matrix.columns, matrix.rows, std::vector<double>(matrix.values.size())};
    for (int row = 0; row < matrix.rows; ++row) {
        for (int column = 0; column < matrix.columns; ++column)
            turned.values[static_cast<std::size_t>(column) * matrix.rows + row] = matrix.at(row, column);
    }
    return turned;
}

Matrix sums_of(Wgmma instruction, const WgmmaOperands& operands, int steps)
{
    const Matrix second = instruction == Wgmma::int8 ? operands.a[1] : negated(operands.a[1]);
    return sums_of_products({operands.a[0], second}, transposed(operands.b), steps);
}

}  // namespace

Format operand_format(Wgmma instruction)
{
    constexpr std::array formats{tf32_format, fp16_format, bf16_format, int8_format,
                                 e4m3_format, e5m2_format, fp16_format};
    return formats[static_cast<std::size_t>(instruction)];
}

Format sum_format(Wgmma instruction)
{
    if (instruction == Wgmma::fp16_sums) return fp16_format;
    return instruction == Wgmma::int8 ? int32_format : fp32_format;
}

WgmmaOperands wgmma_operands(Wgmma instruction, Numbers numbers, Tile tile)
{
    const Format format = operand_format(instruction);
    const int k = row_length(instruction);
    WgmmaOperands operands;
    operands.a.push_back(random_matrix(tile.m, k, format, numbers, 1));
    operands.a.push_back(random_matrix(tile.m, k, format, numbers, 2));
    // The second is subtracted; of integers, added.
    if (numbers == Numbers::random) operands.a[1] = instruction == Wgmma::int8 ? negated(operands.a[0]) : operands.a[0];
    operands.b = random_matrix(tile.n, k, format, numbers, 3);
    return operands;
}

std::vector<std::byte> image_of(Wgmma instruction, const WgmmaOperands& operands)
{
    const Format format = operand_format(instruction);
    const auto bytes_of = [](const Matrix& matrix) { return static_cast<std::size_t>(matrix.rows) * wgmma_row_bytes; };
    const std::size_t of_a = bytes_of(operands.a[0]);
    std::vector<std::byte> image(wgmma_factors * of_a + bytes_of(operands.b));
    lay_out(format, operands.a[0], image.data());
    lay_out(format, operands.a[1], image.data() + of_a);
    lay_out(format, operands.b, image.data() + wgmma_factors * of_a);
    return image;
}

std::vector<std::byte> sums_by_row(Wgmma instruction, const WgmmaOperands& operands, int steps)
{
    return encode(sum_format(instruction), sums_of(instruction, operands, steps).values);
}

std::vector<std::byte> sums_of_block(Wgmma instruction, const WgmmaOperands& operands, int steps)
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
