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

/// What the forward pass leaves for the backward pass; see the operations.
struct SourceMoments {
    Tensor spread, mean, factor;
};

/// A convolution and its batch norm. The parameters of the batch norm and its gradients are fp32.
struct NormedProduct {
    Tensor source{}, weights{};
    Tensor weight{}, bias{}, running_mean{}, running_variance{};
    ChannelNumbers channels{};
    float epsilon = engine::batch_norm_epsilon;
};

/// Whether moments serve the convolution: one tap that reads each position, one group, and narrow values.
bool has_moments(const ConvolutionPass& forward);

/// Appends the statistics of the batch norm.
SourceMoments append_statistics(List& list, const NormedProduct& both);

/// Gradients that the backward pass writes, and the sums of the batch norm's gradient that it reads.
struct NormedGradients {
    Tensor given{}, sum{};  ///< gradient of the batch norm's result; its sums, which are the gradient of the bias
    Tensor weight{};        ///< of the batch norm
    Tensor weights{};       ///< of the convolution, fp32
    Tensor source{};        ///< of the convolution
};

/// Appends the gradients of both.
void append_gradients(List& list, const NormedProduct& both, const SourceMoments& moments,
                      const NormedGradients& gradients);

}  // namespace roof::ir
