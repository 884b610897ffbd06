// The table of the linear loops, loops.hpp, as compiled for each instruction set.
#pragma once

#include "workloads/kernels/linear/products.hpp"
#include "workloads/kernels/pieces.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace roof::kernels {

/// The sums that loops hold in registers: of so many outputs, inputs and images; 0: of each in turn.
struct LinearTile {
    int outputs, inputs, images;
};

/// Each does a range of the function of that name in products.hpp. A table is for elements of one precision.
struct LinearLoops {
    const char* name;
    int each;                        ///< numbers per word
    std::array<LinearTile, 3> tile;  ///< of the passes in their order
    /// A range of rows. y holds the bias on entry; no ReLU is applied.
    void (*forward)(const LinearShape& shape, const Elements& w, const Elements& x, float* y, Range rows);
    void (*backward_data)(const LinearShape& shape, const Elements& w, const Elements& dy, float* dx, Range columns);
    void (*backward_weights)(const LinearShape& shape, const Elements& x, const Elements& dy, float* g, Range rows);
    void (*update)(const LinearShape& shape, const Elements& x, const Elements& dy, float rate,
                   const LinearTrained& trained, Range rows);
};

/// Part of a core's L2, in words. It holds packed operands or sums.
inline constexpr int linear_scratch_words = 65536;
/// Words of a block of rows in the backward loops.
inline constexpr int linear_block = 64;
/// Words of a row per pass of the forward loops. If several groups of images reuse them, they fit the L1.
constexpr int linear_depth(int batch, int wide)
{
    constexpr int in_l1 = 768, few = 4;
    const int groups = (batch + wide - 1) / wide;
    return groups > few ? in_l1 : linear_scratch_words / (groups * wide);
}
/// At least `words` words of memory of the calling thread, aligned to a cache line. Valid until the next call.
std::uint32_t* linear_scratch(std::size_t words);

extern const LinearLoops linear_sse, linear_avx2, linear_avx512;                          ///< fp32
extern const LinearLoops linear_sse_widened, linear_avx2_widened, linear_avx512_widened;  ///< bf16
extern const LinearLoops linear_avx512_bf16;                                              ///< bf16 by the dot product

/// The loops for this precision that this processor supports, the widest instruction set first.
std::span<const LinearLoops* const> linear_loops_here(Precision precision);

/// The first of them; in bf16 the dot product, or widened numbers where that is faster.
const LinearLoops& linear_loops(Precision precision);

}  // namespace roof::kernels
