#include "tests/emulated_gpu/device/core_matrices.hpp"

#include "tests/emulated_gpu/device/fault.hpp"

namespace roof::emulated {

std::vector<f64> read_operand(u64 descriptor, Format format, int rows, int k, const SharedMemory& shared,
                              const ReadyAt* ready)
{
    if (descriptor >> 61 != 0) throw Fault(Fault::Kind::launch, "an operand with a swizzle, which is not emulated");
    const auto field = [descriptor](int first_bit) { return static_cast<u32>(descriptor >> first_bit & 0x3FFF) << 4; };
    const u32 start = field(0);
    const u32 along_k = field(16);
    const u32 along_rows = field(32);
    const auto bits = static_cast<u32>(bits_of(format));
    std::vector<f64> values;
    for (u32 row = 0; row < static_cast<u32>(rows); ++row) {
        for (u32 bit = 0; bit < static_cast<u32>(k) * bits; bit += bits) {
            const u32 byte = bit / 8;
            const u32 at = start + row / 8 * along_rows + byte / 16 * along_k + row % 8 * 16 + byte % 16;
            if (ready != nullptr && bit % 128 == 0)
                shared.read_by_tensor_core(ready->moment, at, 16, ready->proxy_fences);
            const std::byte* const place = shared.at(at, static_cast<std::size_t>(bytes_of(format)));
            const auto upper = static_cast<std::byte>(std::to_integer<unsigned>(*place) >> 4);
            values.push_back(element(format, bit % 8 != 0 ? &upper : place));
        }
    }
    return values;
}

std::vector<f64> product_of(const std::vector<f64>& a, const std::vector<f64>& b, int m, int n, int k)
{
    const auto rows = static_cast<std::size_t>(m);
    const auto columns = static_cast<std::size_t>(n);
    const auto depth = static_cast<std::size_t>(k);
    std::vector<f64> across(b.size());  // B with its rows as columns, so that the innermost loop is along a line
    for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t i = 0; i < depth; ++i) across[i * columns + column] = b[column * depth + i];
    }
    std::vector<f64> product(rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
        f64* const sums = &product[row * columns];
        for (std::size_t i = 0; i < depth; ++i) {
            const f64 factor = a[row * depth + i];
            const f64* const line = &across[i * columns];
            for (std::size_t column = 0; column < columns; ++column) sums[column] += factor * line[column];
        }
    }
    return product;
}

}  // namespace roof::emulated
