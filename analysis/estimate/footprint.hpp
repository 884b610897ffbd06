// The memory of a network in training: parameters, gradients, momentum, and the activations that the backward pass
// needs. Analytic, from shapes: excludes the allocator's rounding, library workspaces and the driver's context.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/base/units.hpp"
#include "workloads/model/work.hpp"

#include <map>
#include <string>

namespace roof::analysis {

/// The passes of an estimate: a training step, its forward pass, or of a network of tokens those of inference.
using Passes = model::Use;
constexpr bool is_inference(Passes passes)
{
    return passes == Passes::prefill || passes == Passes::decode;
}

/// The memory for one batch. A forward pass belongs to training, so its activations are kept; of inference the caches
/// of keys and values are.
struct Footprint {
    Bytes parameters;    ///< includes the low-precision copy of formats below 4 bytes
    Bytes gradients;     ///< gradients of parameters; 0 for a forward pass
    Bytes momentum;      ///< and with AdamW the averages of squared gradients; 0 for a forward pass
    Bytes images;        ///< the batch itself
    Bytes activations;   ///< inputs of convolutions, linear layers, batch norms and the loss, outputs of ReLU
    Bytes masks;         ///< a byte for each value of a dropout and each winner of a max pool
    Bytes working;       ///< gradients of the largest layer; in a forward pass, activations that are not kept
    Bytes pool_winners;  ///< the part of `masks` for max pools; PyTorch uses 8 bytes instead of one
    Bytes pool_inputs;   ///< of max pools, as far as nothing else keeps them; PyTorch keeps them

    Bytes kept() const { return activations + masks; }
    /// With pool indices of 8 bytes and what was pooled.
    Bytes kept_by_pytorch() const { return kept() + 7.0 * pool_winners + pool_inputs; }
    Bytes total() const { return parameters + gradients + momentum + images + kept() + working; }
};

/// ReLU and residual add run in place; flatten and a pooling that keeps the size take no memory.
Footprint footprint_of(const model::Graph& graph, int batch, Precision precision, Passes passes,
                       model::Optimizer optimizer = model::Optimizer::sgd);

/// Memory of an inference: parameters, images, and the two largest neighbouring activations.
Bytes inference_bytes(const model::Graph& graph, int batch, Precision precision);

/// The largest batch that fits into `memory`, by the footprint of a batch; 0 if one image does not fit. Parameters,
/// gradients and averages stay as they are, all else grows with the batch.
int largest_batch(const Footprint& footprint, int batch, Bytes memory);

// The bytes that a product (a convolution or a linear layer) moves at least, whatever its blocking: a bound by
// arithmetic alone, from the multiply-adds, the memory nearer to the core, and how often windows read an input again.
//   A phase of the product that loads X values, with S values kept nearer to the core, touches at most (S + X) / 3 of
//   each of the three operands on average, so it does at most sqrt(R) * ((S + X) / 3)^1.5 multiply-adds (Loomis and
//   Whitney; an input value appears in at most R windows). With X = 2S:
//     values >= 2 * multiply-adds / sqrt(R * S) - 2S
//   For R = 1 it is the bound of Smith, Lowery, Langou and van de Geijn (2019) for matrices; for windows see Chen, Han,
//   Wang (2020). It does not hold for Winograd and FFT, which multiply less.

/// R for each convolution and linear layer of a network: windows that read one input value, ceil(size / stride)^2, 1
/// for a linear layer. Empty for a model that this build does not know or whose file is gone.
std::map<std::string, double> input_uses(const std::string& model);

/// The bound for `products` that run one after another, over `parts` processors with `nearer` bytes each. `value` is
/// the size of a value. Never below 0; 0 without nearer memory.
Bytes least_bytes_of_product(Flops flops, double uses, Bytes nearer, int parts, Bytes value, int products);

}  // namespace roof::analysis
