// Operands of wgmma and tcgen05 in shared memory without swizzle: core matrices of 8 rows of 16 bytes, by the PTX ISA.
#pragma once

#include "tests/emulated_gpu/device/numbers.hpp"
#include "tests/emulated_gpu/device/shared_memory.hpp"

#include <cmath>
#include <vector>

namespace roof::emulated {

/// When a tensor core is told to read shared memory, and the fences of the block's threads by then.
struct ReadyAt {
    Moment moment;
    const std::vector<u32>& proxy_fences;
};

/// [row][k] of the operand. Throws Fault for a descriptor that is not emulated, or memory that is not ready to be read;
/// null: that was asked.
std::vector<f64> read_operand(u64 descriptor, Format format, int rows, int k, const SharedMemory& shared,
                              const ReadyAt* ready);

/// Of a scale: an exponent alone (ue8m0), or ue4m3.
inline f64 scale_of(u32 byte, bool is_exponent)
{
    return is_exponent ? std::ldexp(1.0, static_cast<int>(byte) - 127) : small_float(byte & 0x7F, 4, 3, false);
}

/// A (m x k) by the transpose of B (n x k), row by row. Each sum goes along k.
std::vector<f64> product_of(const std::vector<f64>& a, const std::vector<f64>& b, int m, int n, int k);

}  // namespace roof::emulated
