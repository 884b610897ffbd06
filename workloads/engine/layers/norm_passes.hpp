// The two passes of a batch norm's backward pass by our kernels, for one batch norm or for both of a residual sum.
#pragma once

#include "workloads/engine/layers/builder.hpp"

namespace roof::ir {

/// Appends both sums over g: the gradients of bias and weight, of the layer and, if it is one, of its partner. By moments,
/// only that of the bias.
void reduce(Builder& build, int layer, ReduceGradient reduction, int partner = -1);

/// Appends the gradient of the source of the layer and, if it is one, of its partner.
void spread(Builder& build, int layer, NormGradient spreading, int partner = -1);

/// Marks the gradients of a batch norm's parameters as complete, which other ranks may then change. So not before the operation
/// that finds the source's gradient has read them.
void complete(Builder& build, int norm);

}  // namespace roof::ir
