// A pass of a convolution or of a batch norm as a cuDNN operation graph.
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

/// Returns the operations: scale, shift and ReLU of the source, convolution, bias and ReLU, sums of the result; each if
/// the shape has it. Throws Unsupported or Error.
std::vector<Descriptor> operations_of(const ConvolutionPass& shape);

/// The graph of these operations. Throws Unsupported if cuDNN does not support it, else Error.
Descriptor convolution_graph(const ConvolutionPass& shape);

/// Tensor identifiers for the addresses of a plan. Epsilon and the batch's share in running statistics are host values.
enum NormNumber : std::int64_t {
    norm_source = 1,
    norm_weight,
    norm_bias,
    norm_mean,
    norm_inverse_deviation,
    norm_running_mean,
    norm_running_variance,
    norm_next_mean,
    norm_next_variance,
    norm_epsilon,
    norm_share,
    norm_result,
    norm_gradient_given,
    norm_output,
    norm_sum,
    norm_sum_of_products
};

/// A batch norm in training, with its ReLU or the ReLU's gradient.
///   forward   source, weight, bias, running statistics -> mean, 1 / deviation, new running statistics, result
///   backward  gradient, output of the ReLU, source, weight, mean, 1 / deviation -> gradients of source, weight and
///   bias
/// Without a driver, cuDNN 9.19 accepts these graphs but finishes no plan: it compiles their engines at run time. Throw
/// as convolution_graph().
std::vector<Descriptor> operations_of(const NormShape& shape);
Descriptor graph_of(const NormShape& shape);

}  // namespace roof::cudnn
