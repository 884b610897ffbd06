// A batch norm in training as cuDNN's operation graph, with the ReLU behind it or that one's way back.
//   forward   source, weight, bias, running statistics -> mean, 1 / deviation, new running statistics, result
//   backward  gradient, output of the ReLU, source, weight, mean, 1 / deviation -> gradients of source, weight and bias
// Without a driver cuDNN 9.19 takes these graphs and finishes a plan for none of them: its engines for them are made at run time.
#pragma once

#include "workloads/cudnn/library/graph.hpp"
#include "workloads/cudnn/program/norm_shape.hpp"

namespace roof::cudnn {

/// The tensors of the graph, by the number under which a plan is given their addresses. Epsilon and the share of the batch in the
/// running statistics are numbers on the host.
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

/// Throws Unsupported where cuDNN takes no such graph, or Error.
Descriptor norm_graph(const NormShape& shape);

}  // namespace roof::cudnn
