// What a shape of mma.sync says beyond its three numbers. The translation writes scales into the bits of m above the
// rows, so that the other kernels need not know of them.
#pragma once

#include "tests/emulated_gpu/device/thread.hpp"

namespace roof::emulated {

/// Rows of A.
constexpr int rows_of(const MmaShape& shape)
{
    return shape.m & 0xFF;
}
/// Scales of a row of A and of a column of B, in the words behind their registers; 0: none.
constexpr int scales_of(const MmaShape& shape)
{
    return shape.m >> 8 & 0xF;
}
/// Whether a scale is an exponent alone (ue8m0); else ue4m3.
constexpr bool has_exponents(const MmaShape& shape)
{
    return (shape.m >> 12 & 1) != 0;
}
/// Four products in a warp, as compute capability 7.0 has them.
constexpr bool is_of_eight_lanes(const MmaShape& shape)
{
    return shape.m == 8 && shape.k == 4 && shape.format == Format::fp16;
}

}  // namespace roof::emulated
