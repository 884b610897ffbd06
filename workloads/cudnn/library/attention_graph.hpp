// A pass of attention as a cuDNN operation graph: the operations into which cudnn-frontend 1.32.0 takes its SDPA nodes
// apart for libraries before 9.21 (CompositeSDPANode, CompositeSDPABackwardNode). cuDNN recognises them and has one
// fused kernel for all.
#pragma once

#include "workloads/cudnn/library/graph.hpp"
#include "workloads/engine/ir/shapes.hpp"

#include <vector>

namespace roof::cudnn {

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
