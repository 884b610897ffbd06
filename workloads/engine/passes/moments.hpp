// A 1x1 convolution y = x W' and the batch norm behind it, from moments of x instead of passes over y, which has more
// channels. With n rows, C the covariance of the columns of x and m their mean:
//   mean of y = W m;   variance of y[c] = W[c] C W[c]'
// With g the gradient of the batch norm's result, s its sums, P = g' x - s m', a = weight / deviation, and
// p[c] = P[c] W[c]' / deviation^2 / n:
//   dweight[c] = n p[c] deviation;   dW[c] = a (P[c] - n p[c] W[c] C)
//   dx = g (a W) - (x - m') W' (a p W) - (a s / n) W
// So y is neither read for its statistics nor backward, and its gradient is never written. All sums are fp32.
#pragma once

#include "workloads/engine/ir/list.hpp"

namespace roof::ir {

/// Appends the statistics of the batch norm behind a convolution with this source and these weights. Those that it
/// returns have what the backward pass reads.
MomentStatistics append_statistics(List& list, const Tensor& source, const Tensor& weights, const Statistics& norm);

}  // namespace roof::ir
