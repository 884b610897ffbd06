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

// A pass of attention as a cuDNN operation graph: the operations into which cudnn-frontend 1.32.0 takes its SDPA nodes
// apart for libraries before 9.21 (CompositeSDPANode, CompositeSDPABackwardNode). cuDNN recognises them and has one
// fused kernel for all.

/// Tensor identifiers for the addresses of a plan. Queries, keys and values are parts of one map, whose positions have
/// the channels of all their heads; their gradients, too.
enum AttentionNumber : std::int64_t {
    attention_queries = 1,
    attention_keys,
    attention_values,
    attention_result,
    attention_sums,  ///< fp32 [images][heads][positions], as are the products
    attention_gradient,
    attention_to_queries,
    attention_to_keys,
    attention_to_values,
    attention_products,
    attention_to_queries_fp32,  ///< [images][heads][positions][channels]; unless the sums are in order
    attention_scale,            ///< on the host, as the next two: 1 over the root of a head's channels
    attention_lowest,           ///< minus infinity; under a causal mask
    attention_one               ///< 1; backward
};

/// The operations of the pass. Throws Unsupported or Error.
std::vector<Descriptor> operations_of(const ir::AttentionPass& pass);

/// Their graph. Throws Unsupported for what cudnn-frontend refuses (fp32; heads whose channels are no multiple of 8;
/// the gradient of a single position; cuDNN before 9.16, whose gradients need another mask where 128 does not divide
/// the positions) or cuDNN does, else Error.
Descriptor graph_of(const ir::AttentionPass& pass);

}  // namespace roof::cudnn
