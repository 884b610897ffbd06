// What trials compare: a pass of a convolution, and layers around a batch norm, written as a step writes them.
#pragma once

#include "workloads/cudnn/library/trial.hpp"
#include "workloads/engine/layers/builder.hpp"

#include <vector>

namespace roof::cudnn {

/// Returns the pass with all that its shape has, on memory of its own with `workspace` bytes for the plan.
Convolve convolution_in(Trial& trial, const ConvolutionPass& shape, std::size_t workspace);

/// Adds the bare pass of the operation's shape by plan 0, with our kernels for what else the shape has, and then the
/// operation itself by plans 1 to `plans`. Two passes read a scaled source: each is charged half of its normalisation.
void add_convolution(Trial& trial, const Convolve& whole, std::size_t plans);

enum class Timed { forward, backward, both };

/// Adds a way for each of the choosers: the layers from `first` on, without a backward pass if only the forward pass is
/// timed. The outputs of the layers before, the parameters and the gradient of the last layer are filled. Throws
/// Unsupported or Error.
void add_layers(Trial& trial, const model::Graph& graph, int first, const Settings& settings,
                const std::vector<Choosers>& ways, Timed timed);

/// Add the pass of a batch norm, or of attention, by our kernels, and by each of the libraries' choices.
void add_passes(Trial& trial, const NormShape& shape, const std::vector<Choice>& choices);
void add_passes(Trial& trial, const AttentionPass& pass, const std::vector<Choice>& choices);

/// Adds a 1x1 convolution and the batch norm behind it, whose result a residual sum reads: by passes over the map
/// between them, and by moments (engine/passes/passes.hpp).
void add_moments(Trial& trial, const ConvolutionPass& forward, const Choosers& passes);

}  // namespace roof::cudnn
