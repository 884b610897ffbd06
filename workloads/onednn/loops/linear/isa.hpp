// The loops of loops.hpp as compiled for each instruction set: a source file each, avx512.cpp and so on.
#pragma once

#include "workloads/onednn/loops/linear/products.hpp"

namespace roof::onednn {

/// From `begin` to before `end`: rows of the weights, or columns.
struct Range {
    int begin = 0;
    int end = 0;
};

/// Each does its range of what the function of the same name in products.hpp does.
struct LinearLoops {
    const char* name;
    /// Rows. y holds the bias before; no ReLU.
    void (*forward)(const LinearShape& shape, const Elements& w, const float* x, float* y, Range rows);
    void (*backward_data)(const LinearShape& shape, const Elements& w, const float* dy, float* dx, Range columns);
    void (*update)(const LinearShape& shape, const float* x, const float* dy, float rate, const LinearTrained& trained,
                   Range rows);
};

/// A piece of memory of its own for each thread, which a part of a core's L2 holds.
inline constexpr int linear_scratch_floats = 65536;
inline constexpr int linear_factors = 4096;  ///< beyond those
float* linear_scratch();

extern const LinearLoops linear_sse;
extern const LinearLoops linear_avx2;
extern const LinearLoops linear_avx512;

}  // namespace roof::onednn
