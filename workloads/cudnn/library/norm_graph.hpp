// A batch norm in training as a cuDNN operation graph, with its ReLU or the ReLU's gradient.
//   forward   source, weight, bias, running statistics -> mean, 1 / deviation, new running statistics, result
//   backward  gradient, output of the ReLU, source, weight, mean, 1 / deviation -> gradients of source, weight and bias
// Without a driver, cuDNN 9.19 accepts these graphs but finishes no plan: it compiles their engines at run time.
#pragma once

#include "workloads/cudnn/library/graph.hpp"
#include "workloads/engine/ir/shapes.hpp"

namespace roof::cudnn {

using namespace ir;  // a step's operations and program

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

/// Throws Unsupported if cuDNN does not support the graph, else Error.
Descriptor norm_graph(const NormShape& shape);

}  // namespace roof::cudnn
