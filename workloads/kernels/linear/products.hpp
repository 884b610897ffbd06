// The arithmetic of a linear layer over a batch. At small batches reading the weights takes the time: they do not fit
// a cache, and each is used once per image. Every product therefore streams them once, and the gradient of the
// weights is never stored: the update computes it in registers from the two small matrices of which it is the
// product. At large batches the products take the time: tiles of sums stay in registers, and bf16 is multiplied in
// pairs.
//   w [outputs][inputs], its rows `row` numbers apart;  x [batch][inputs], y and its gradient dy [batch][outputs] without gaps
// What is multiplied is of one precision, fp32 or bf16; sums are fp32.
#pragma once

#include "workloads/kernels/elements.hpp"

namespace roof::kernels {

/// An odd number of cache lines of bf16, and so whole lines of fp32: rows a power of two apart would all share a few
/// sets of the caches.
constexpr int linear_row(int inputs)
{
    constexpr int line = 32;
    const int lines = (inputs + line - 1) / line;
    return (lines + (lines % 2 == 0 ? 1 : 0)) * line;
}

struct LinearShape {
    int batch = 1;
    int inputs = 1;
    int outputs = 1;
    int row = linear_row(inputs);  ///< from one row of the weights to the next
};

/// y[n][o] = bias[o] + sum over i of w[o][i] * x[n][i], and no less than 0 if `relu`.
void linear_forward(const LinearShape& shape, const Elements& w, const float* bias, const Elements& x, float* y,
                    bool relu);

/// dx[n][i] = sum over o of w[o][i] * dy[n][o].
void linear_backward_data(const LinearShape& shape, const Elements& w, const Elements& dy, float* dx);

/// db[o] = sum over n of dy[n][o]
void linear_backward_bias(const LinearShape& shape, const Elements& dy, float* db);

/// g[o][i] = sum over n of dy[n][o] * x[n][i], rows as far apart as the weights'; what lies between them is left alone.
void linear_backward_weights(const LinearShape& shape, const Elements& x, const Elements& dy, float* g);

/// What a step of gradient descent changes. `copy`: null, or the weights in bf16.
struct LinearTrained {
    float* w = nullptr;
    float* momentum = nullptr;
    BFloat16* copy = nullptr;
};

/// Gradient and update of the weights, as sgd.cpp has it, in one pass over them.
void linear_update(const LinearShape& shape, const Elements& x, const Elements& dy, float rate,
                   const LinearTrained& trained);

/// "roof:avx512_bf16", "roof:avx512", "roof:avx2" or "roof:sse": the instructions these loops take on this machine
/// for what is multiplied.
const char* linear_implementation(Precision precision);

}  // namespace roof::kernels
