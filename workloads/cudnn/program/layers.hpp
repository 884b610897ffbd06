// The layers. Each function writes one unit into the program: forward now, backward on the tape. A file per kind.
#pragma once

#include "workloads/cudnn/program/builder.hpp"

namespace roof::cudnn {

/// The whole step: import of images, forward, loss, backward, update.
void write_step(Builder& build);

void convolution(Builder& build, const Unit& unit);
void linear(Builder& build, const Unit& unit);
void batch_norm(Builder& build, const Unit& unit);
void add(Builder& build, const Unit& unit);
void relu(Builder& build, const Unit& unit);
void max_pool(Builder& build, const Unit& unit);
void average_pool(Builder& build, const Unit& unit);
void dropout(Builder& build, const Unit& unit);
/// The layer puts out its input as it is (flatten; dropout that is off; pooling to the size there is).
void pass_through(Builder& build, const Unit& unit);
/// Of the network's last layer; the mean over the batch goes to the step's state.
void softmax_cross_entropy(Builder& build);
/// One stage over all that was trained.
void sgd(Builder& build);

/// The gradient before the unit's ReLU, its sums over channels into the bias' gradient if the layer has one; of a unit without
/// either, the gradient of its output.
Tensor gradient_of_unit(Builder& build, const Unit& unit);

}  // namespace roof::cudnn
