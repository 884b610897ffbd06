// Index arithmetic of the tensor cores' probes: which thread of a warp holds which element of the matrices of mma.sync,
// and the layout of the operands of wgmma in shared memory.
//
// A warp's lane is 4 * group + member. An element of A (m x k), B (k x n) or of the sums (m x n) is named by lane,
// register and place in the register, which holds `packed` elements: 1 of fp64 and tf32, 2 of 16 bits, 4 of 8, 8 of 4
// bits. (PTX ISA, "Matrix fragments for mma" and "Asynchronous warpgroup-level matrix shared memory layout".)
#pragma once

#include <cstddef>

namespace roof::gpu {

/// Formats of the operands of the tensor cores' instructions, which have some of them each. Sums are in fp32, of fp64
/// and int8 in fp64 and int32.
enum class TensorFormat {
    fp64_small,  ///< mma alone, 8 x 8 x 4; the others of mma are 16 x 8
    fp64,        ///< mma alone, since compute capability 9.0
    tf32,
    fp16,
    bf16,
    int8,
    e4m3,  ///< mma on compute capability 8.9, and 12.0 on
    e5m2,
    mxfp8,  ///< tcgen05, and mma from 12.0 on: e4m3 and e2m1 with a scale for each 32 numbers, e2m1 with one for each
            ///< 16
    mxfp4,
    nvfp4,
    turing_fp16,  ///< from here on mma of 7.5 alone: 16 x 8 x 8 (int8: 8 x 8 x 16)
    turing_int8,
    volta_fp16  ///< mma of 7.0 alone: four products of 8 x 8 x 4, each by eight lanes
};

struct Element {
    int row = 0;
    int column = 0;

    bool operator==(const Element&) const = default;
};

/// The element of A in a register. Registers alternate between rows 8 apart, then go on along k.
constexpr Element element_of_a(int lane, int reg, int place, int packed)
{
    return {lane / 4 + 8 * (reg % 2), packed * (lane % 4) + place + 4 * packed * (reg / 2)};
}

/// The same for an A of 8 rows, of which a lane has one register.
constexpr Element element_of_small_a(int lane, int place, int packed)
{
    return {lane / 4, packed * (lane % 4) + place};
}

/// Of volta_fp16 the four products stand along a diagonal: A is 32 x 4, B 4 x 32, and the sums are the blocks of 8 x 8
/// on the diagonal of 32 x 32. Lanes 4q to 4q + 3 and 16 more than these have product q.
constexpr int volta_row(int lane)
{
    return 8 * (lane % 16 / 4) + 4 * (lane / 16) + lane % 4;
}
constexpr Element element_of_volta_a(int lane, int reg, int place)
{
    return {volta_row(lane), 2 * reg + place};
}
constexpr Element element_of_volta_b(int lane, int reg, int place)
{
    return {2 * reg + place, volta_row(lane)};
}
constexpr Element element_of_volta_sums(int lane, int reg)
{
    const int first = 8 * (lane % 16 / 4);
    return {first + 4 * (lane / 16) + 2 * (reg / 2 % 2) + lane % 2,
            first + 4 * (reg / 4) + 2 * (lane / 2 % 2) + reg % 2};
}

/// Whose scale a lane has of a block-scaled mma (16 x 8): one of A's rows, one of B's columns. Lanes with the same one
/// hold the same word, of whose bytes the first belongs to the first numbers along k.
constexpr int row_of_scale(int lane)
{
    return lane / 4 + 8 * (lane % 2);
}
constexpr int column_of_scale(int lane)
{
    return lane / 4;
}

/// The element of B in a register.
constexpr Element element_of_b(int lane, int reg, int place, int packed)
{
    return {packed * (lane % 4) + place + 4 * packed * reg, lane / 4};
}

/// The element of the sums in a register: two columns by 8 or 16 rows.
constexpr Element element_of_sums(int lane, int reg)
{
    return {lane / 4 + 8 * (reg / 2), 2 * (lane % 4) + reg % 2};
}

/// The same for the sums of wgmma (64 x n): each of its four warps has 16 rows, each four registers have 8 columns.
constexpr Element element_of_wgmma_sums(int thread, int reg)
{
    const Element in_warp = element_of_sums(thread % 32, reg % 4);
    return {16 * (thread / 32) + in_warp.row, 8 * (reg / 4) + in_warp.column};
}

/// Operands of wgmma without swizzle, with k along the rows of both. Core matrices of 8 rows by 16 bytes follow one
/// another along k, up to `wgmma_row_bytes` of a row; then come those of the next 8 rows.
inline constexpr int wgmma_row_bytes = 128;
inline constexpr int core_rows = 8;
inline constexpr int core_row_bytes = 16;
inline constexpr int core_bytes = core_rows * core_row_bytes;
inline constexpr int bytes_of_core_rows = core_rows * wgmma_row_bytes;

/// The offset of byte `byte` of a row.
constexpr int wgmma_offset(int row, int byte)
{
    return row / core_rows * bytes_of_core_rows + byte / core_row_bytes * core_bytes +
           row % core_rows * core_row_bytes + byte % core_row_bytes;
}

}  // namespace roof::gpu
