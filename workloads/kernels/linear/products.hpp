// The products of a linear layer over a batch. Small batches are bound by reading the weights, which do not fit a cache
// and are used once per image. Therefore every product reads them once, and the weights' gradient is not stored: the
// update computes it in registers from its two small factors. Large batches are bound by compute; tiles of sums stay in
// registers, and bf16 is multiplied in pairs.
//   w [outputs][inputs], rows `row` numbers apart;  x [batch][inputs], y and its gradient dy [batch][outputs] without
// gaps
// All operands of a product have one precision, fp32 or bf16; sums are fp32.
#pragma once

#include "ert/method/bench/work.hpp"
#include "workloads/kernels/elements.hpp"
#include "workloads/model/convolution.hpp"

#include <vector>

namespace roof::kernels {

/// Row distance: an odd number of cache lines in bf16. Rows a power of two apart would share a few cache sets.
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
    int row = linear_row(inputs);  ///< distance between rows of the weights
};

/// y[n][o] = bias[o] + sum over i of w[o][i] * x[n][i]; max(y, 0) if `relu`. A null bias is zero.
void linear_forward(const LinearShape& shape, const Elements& w, const float* bias, const Elements& x, float* y,
                    bool relu);

/// dx[n][i] = sum over o of w[o][i] * dy[n][o].
void linear_backward_data(const LinearShape& shape, const Elements& w, const Elements& dy, float* dx);

/// db[o] = sum over n of dy[n][o]
void linear_backward_bias(const LinearShape& shape, const Elements& dy, float* db);

/// g[o][i] = sum over n of dy[n][o] * x[n][i]. Rows are as far apart as the weights'; the gaps are not written.
void linear_backward_weights(const LinearShape& shape, const Elements& x, const Elements& dy, float* g);

/// The tensors that a step of gradient descent updates. `copy`: the weights in bf16, or null.
struct LinearTrained {
    float* w = nullptr;
    float* momentum = nullptr;
    BFloat16* copy = nullptr;
};

/// Computes the weights' gradient and applies the update of sgd.cpp, in one pass over the weights.
void linear_update(const LinearShape& shape, const Elements& x, const Elements& dy, float rate,
                   const LinearTrained& trained);

/// Whether this processor, which has the bf16 dot product, multiplies faster by it than by widened numbers: timed once.
bool is_dot_faster();

/// Work::refetched of a pass.
std::vector<Refetch> linear_refetched(const LinearShape& shape, model::Pass pass, Precision precision, int threads);

/// The instruction set used on this machine: "roof:avx512_bf16", "roof:avx512", "roof:avx2" or "roof:sse".
const char* linear_implementation(Precision precision);

}  // namespace roof::kernels
