// The layers, one file per kind. Each function writes one unit into the program: forward at once, backward on the tape.
#pragma once

#include "workloads/onednn/layers/builder.hpp"

#include <limits>

namespace roof::onednn {

void convolution(Builder& build, const Unit& unit);
void linear(Builder& build, const Unit& unit);
/// Writes nothing for a batch norm that is computed with the sum after it.
void batch_norm(Builder& build, const Unit& unit);
/// The sum with the batch norms before it and the ReLU after it. Returns false and writes nothing if there is no such
/// batch norm.
bool sum_of_batch_norms(Builder& build, const Unit& unit);
void relu(Builder& build, const Unit& unit);
void relu6(Builder& build, const Unit& unit);
/// Hard swish, hard sigmoid, SiLU and sigmoid.
void activation(Builder& build, const Unit& unit);
void multiply(Builder& build, const Unit& unit);
void slice(Builder& build, const Unit& unit);
void shuffle(Builder& build, const Unit& unit);
void concat(Builder& build, const Unit& unit);
void max_pool(Builder& build, const Unit& unit);
void average_pool(Builder& build, const Unit& unit);
void add(Builder& build, const Unit& unit);
void dropout(Builder& build, const Unit& unit);
/// Reads the last layer's output; writes the mean over the batch to state.loss.
void softmax_cross_entropy(Builder& build);
/// Updates all parameters in one stage.
void sgd(Builder& build);

/// What a loop does with the sum: nothing; max(sum, 0); zero where the ReLU clipped it.
enum class ReluPass { none, forward, backward };

/// Appends y = left, or left + right, then the ReLU, which is clipped at `most`. `result`: the ReLU's, for the backward
/// pass. y may be a term.
void append_sum(Program& program, const Tensor& y, const Tensor& left, const Tensor& right, ReluPass relu,
                const Tensor& result = {}, float most = std::numeric_limits<float>::infinity());

/// Returns the gradient before the unit's ReLU from the gradient after it; without a ReLU, the unit's gradient.
Gradient gradient_before_relu(Builder& build, const Unit& unit);
/// Returns left + right, stored in right if right is not shared, else in a new tensor.
Gradient sum_gradients(Builder& build, const Gradient& left, const Gradient& right);

}  // namespace roof::onednn
