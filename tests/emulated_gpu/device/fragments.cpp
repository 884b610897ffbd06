// mma.sync: which lane holds which elements, by the figures of the PTX ISA. Not read from ert/gpu/kernels/fragments.hpp,
// so that an error there shows.
#include "tests/emulated_gpu/device/block.hpp"

namespace roof::emulated {

namespace {

struct Place {
    int row, column;
};

/// Element i of a lane's registers of A (m x k). Registers alternate between the upper and the lower 8 rows.
Place place_in_a(const MmaShape& shape, int lane, int i, int packed)
{
    const int number = i / packed;
    if (shape.m == 8) return {lane / 4, lane % 4};
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

void add_to_half(void* sums, int i, f64 sum)
{
    f16& value = static_cast<f16*>(sums)[i];
    value = narrow<f16>(widen(value) + sum);
}

}  // namespace

void multiply_fragments(const MmaShape& shape, const std::vector<Thread*>& lanes, std::size_t register_bytes)
{
    const int bytes = bytes_of(shape.format);
    const int packed = static_cast<int>(register_bytes) / bytes;
    std::vector<f64> a(static_cast<std::size_t>(shape.m * shape.k));
    std::vector<f64> b(static_cast<std::size_t>(shape.k * shape.n));
    const auto at = [](std::vector<f64>& matrix, int width, Place place) -> f64& {
        return matrix[static_cast<std::size_t>(place.row * width + place.column)];
    };
    for (int lane = 0; lane < 32; ++lane) {
        const Thread::Registers& given = lanes[static_cast<std::size_t>(lane)]->registers;
        for (int i = 0; i < shape.m * shape.k / 32; ++i)
            at(a, shape.k, place_in_a(shape, lane, i, packed)) =
                element(shape.format, static_cast<const char*>(given.a) + i * bytes);
        for (int i = 0; i < shape.k * shape.n / 32; ++i)
            at(b, shape.n, place_in_b(lane, i, packed)) =
                element(shape.format, static_cast<const char*>(given.b) + i * bytes);
    }
    for (int lane = 0; lane < 32; ++lane) {
        void* const sums = lanes[static_cast<std::size_t>(lane)]->registers.sums;
        for (int i = 0; i < shape.m * shape.n / 32; ++i) {
            const Place place = place_in_sums(lane, i);
            f64 sum = 0;
            for (int k = 0; k < shape.k; ++k) sum += at(a, shape.k, {place.row, k}) * at(b, shape.n, {k, place.column});
            if (shape.half_sums)
                add_to_half(sums, i, sum);
            else if (shape.format == Format::fp64)
                add_to<f64>(sums, i, sum);
            else if (shape.format == Format::int8)
                add_to<s32>(sums, i, sum);
            else
                add_to<f32>(sums, i, sum);
        }
    }
}

}  // namespace roof::emulated
