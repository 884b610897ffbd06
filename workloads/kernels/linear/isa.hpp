// The loops of loops.hpp as compiled for each instruction set: a source file each, avx512.cpp and so on.
#pragma once

#include "workloads/kernels/linear/products.hpp"
#include "workloads/kernels/pieces.hpp"

#include <cstddef>
#include <span>

namespace roof::kernels {

/// Each does its range of what the function of the same name in products.hpp does. All elements of a call are of one
/// precision.
struct LinearLoops {
    const char* name;
    /// Rows. y holds the bias before; no ReLU.
    void (*forward)(const LinearShape& shape, const Elements& w, const Elements& x, float* y, Range rows);
    void (*backward_data)(const LinearShape& shape, const Elements& w, const Elements& dy, float* dx, Range columns);
    void (*backward_weights)(const LinearShape& shape, const Elements& x, const Elements& dy, float* g, Range rows);
    void (*update)(const LinearShape& shape, const Elements& x, const Elements& dy, float rate,
                   const LinearTrained& trained, Range rows);
};

/// What a part of a core's L2 holds: words of multiplicands, or sums, that are laid together there while weights go by.
inline constexpr int linear_scratch_words = 65536;
/// At least so many words of memory of the calling thread's own, on a cache line; what a call gives holds until the
/// next one.
std::uint32_t* linear_scratch(std::size_t words);

extern const LinearLoops linear_sse;
extern const LinearLoops linear_avx2;
extern const LinearLoops linear_avx512;
extern const LinearLoops linear_avx512_bf16;

/// Those that this processor runs, the best first.
std::span<const LinearLoops* const> linear_loops_here();

}  // namespace roof::kernels
