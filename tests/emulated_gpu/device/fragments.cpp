// mma.sync: which lane holds which elements, by the figures of the PTX ISA. Not read from
// ert/gpu/kernels/fragments.hpp, so that an error there shows.
#include "tests/emulated_gpu/device/block.hpp"
#include "tests/emulated_gpu/device/core_matrices.hpp"
#include "tests/emulated_gpu/device/mma_shapes.hpp"

namespace roof::emulated {

namespace {

struct Place {
    int row, column;
};

/// Element i of a lane's registers of A (m x k). Registers alternate between the upper and the lower 8 rows.
Place place_in_a(const MmaShape& shape, int lane, int i, int packed)
{
    const int number = i / packed;
    if (rows_of(shape) == 8) return {lane / 4, packed * (lane % 4) + i % packed};
    return {lane / 4 + 8 * (number % 2), packed * (lane % 4) + i % packed + 4 * packed * (number / 2)};
}
Place place_in_b(int lane, int i, int packed)
{
    return {packed * (lane % 4) + i % packed + 4 * packed * (i / packed), lane / 4};
}
Place place_in_sums(int lane, int i)
{
    return {lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2};
}

template <class Sum>
void add_to(void* sums, int i, f64 sum)
{
    Sum& value = static_cast<Sum*>(sums)[i];
    if constexpr (std::is_integral_v<Sum>)
        value = add(value, static_cast<Sum>(static_cast<s64>(sum)));
    else
        value = static_cast<Sum>(value + sum);
}

/// m8n8k4 of fp16: lanes below 16 have the upper half of a product's A and sums and of B's columns, those above the
/// lower one.
void multiply_by_eight_lanes(const std::vector<Thread*>& lanes)
{
    for (int first = 0; first < 16; first += 4) {
        f64 a[8][4], b[4][8];
        const auto lane_of = [&](int i) { return static_cast<std::size_t>(first + i % 4 + (i < 4 ? 0 : 16)); };
        for (int i = 0; i < 8; ++i) {
            const Thread::Registers& given = lanes[lane_of(i)]->registers;
            for (int k = 0; k < 4; ++k) {
                a[i][k] = element(Format::fp16, static_cast<const char*>(given.a) + 2 * k);
                b[k][i] = element(Format::fp16, static_cast<const char*>(given.b) + 2 * k);
            }
        }
        for (int i = 0; i < 8; ++i) {
            const int lane = static_cast<int>(lane_of(i));
            for (int c = 0; c < 8; ++c) {
                const int x = (lane & 1) + (c & 2);
                const int row = lane < 16 ? x : x + 4;
                const int column = (c & 4) + (lane & 2) + (c & 1);
                f64 sum = 0;
                for (int k = 0; k < 4; ++k) sum += a[row][k] * b[k][column];
                add_to<f32>(lanes[static_cast<std::size_t>(lane)]->registers.sums, c, sum);
            }
        }
    }
}

}  // namespace

void multiply_fragments(const MmaShape& shape, const std::vector<Thread*>& lanes, std::size_t register_bytes)
{
    if (is_of_eight_lanes(shape)) return multiply_by_eight_lanes(lanes);
    const int packed = 8 * static_cast<int>(register_bytes) / bits_of(shape.format);
    const auto number = [&](const void* registers, int i) {
        const char* const at = static_cast<const char*>(registers) + i * bits_of(shape.format) / 8;
        return bits_of(shape.format) == 4 && i % 2 != 0 ? e2m1_of(static_cast<u32>(static_cast<u8>(*at)) >> 4)
                                                        : element(shape.format, at);
    };
    const int m = rows_of(shape);
    const int scales = scales_of(shape);
    // The scales of a row of A are in the first lane of its four, or in the second for the lower half; those of a
    // column of B in the first.
    const auto scale = [&](const void* registers, int count, int k) {
        if (scales == 0) return 1.0;
        const u32 word = static_cast<const u32*>(registers)[count];
        return scale_of(word >> 8 * (k * scales / shape.k) & 0xFF, has_exponents(shape));
    };
    const auto scale_of_a = [&](Place at) {
        const int lane = 4 * (at.row % 8) + at.row / 8;
        return scale(lanes[static_cast<std::size_t>(lane)]->registers.a, m * shape.k / 32 / packed, at.column);
    };
    const auto scale_of_b = [&](Place at) {
        return scale(lanes[static_cast<std::size_t>(4 * at.column)]->registers.b, shape.k * shape.n / 32 / packed,
                     at.row);
    };
    std::vector<f64> a(static_cast<std::size_t>(m * shape.k));
    std::vector<f64> b(static_cast<std::size_t>(shape.k * shape.n));
    const auto at = [](std::vector<f64>& matrix, int width, Place place) -> f64& {
        return matrix[static_cast<std::size_t>(place.row * width + place.column)];
    };
    for (int lane = 0; lane < 32; ++lane) {
        const Thread::Registers& given = lanes[static_cast<std::size_t>(lane)]->registers;
        for (int i = 0; i < m * shape.k / 32; ++i) {
            const Place place = place_in_a(shape, lane, i, packed);
            at(a, shape.k, place) = number(given.a, i) * scale_of_a(place);
        }
        for (int i = 0; i < shape.k * shape.n / 32; ++i) {
            const Place place = place_in_b(lane, i, packed);
            at(b, shape.k, {place.column, place.row}) = number(given.b, i) * scale_of_b(place);
        }
    }
    std::vector<f64> product = product_of(a, b, m, shape.n, shape.k);
    for (int lane = 0; lane < 32; ++lane) {
        void* const sums = lanes[static_cast<std::size_t>(lane)]->registers.sums;
        for (int i = 0; i < m * shape.n / 32; ++i) {
            const f64 sum = at(product, shape.n, place_in_sums(lane, i));
            if (shape.format == Format::fp64)
                add_to<f64>(sums, i, sum);
            else if (shape.format == Format::int8)
                add_to<s32>(sums, i, sum);
            else
                add_to<f32>(sums, i, sum);
        }
    }
}

}  // namespace roof::emulated
