// A pass of a convolution as a cuDNN operation graph.
#pragma once

#include "workloads/cudnn/library/graph.hpp"
#include "workloads/engine/ir/shapes.hpp"

#include <vector>

namespace roof::cudnn {

using namespace ir;  // a step's operations and program

/// Identifiers of a graph's tensors: a plan takes addresses by these numbers.
enum TensorNumber : std::int64_t {
    number_source = 1,
    number_weights,
    number_result,
    number_bias,
    number_scale,
    number_shift,
    number_sum,
    number_squares
};

/// Returns the operations: scale, shift and ReLU of the source, convolution, bias and ReLU, sums of the result; each if the
/// shape has it. Throws Unsupported or Error.
std::vector<Descriptor> operations_of(const ConvolutionPass& shape);

/// The graph of these operations. Throws Unsupported if cuDNN does not support it, else Error.
Descriptor convolution_graph(const ConvolutionPass& shape);

}  // namespace roof::cudnn
