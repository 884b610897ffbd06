// What a network keeps in memory while it trains: parameters and their company, and the activations that the backward pass
// will ask for. Counted from shapes, so every number is analytic; an allocator's rounding, a library's workspace and a
// driver's context come on top.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/base/units.hpp"
#include "workloads/model/graph.hpp"

#include <string_view>

namespace roof::analysis {

/// Which passes an estimate covers: the forward pass alone, or a whole training step.
enum class Passes { forward, step };

std::string_view name(Passes passes);
/// "forward" or "step"; throws InputError naming both.
Passes parse_passes(std::string_view word);

/// Bytes, for a batch. A forward pass here is one of training: its activations are kept.
struct Footprint {
    Bytes parameters;  ///< with the small copy that formats of less than 4 bytes train beside
    Bytes gradients;   ///< of parameters; 0 for a forward pass
    Bytes momentum;    ///< 0 for a forward pass
    Bytes images;      ///< the batch itself
    Bytes
        activations;  ///< inputs of convolutions, linear layers and batch norms, outputs of ReLU, and the loss's input
    Bytes masks;      ///< a byte for each value of a dropout and each winner of a max pool
    Bytes working;    ///< the largest layer's gradients of input and output; of a forward pass, what is not kept
    Bytes pool_winners;  ///< of `masks`, those of max pools: PyTorch keeps 8 bytes where one would do

    Bytes kept() const { return activations + masks; }
    /// What PyTorch keeps: its pool indices are 8 bytes each.
    Bytes kept_by_pytorch() const { return kept() + 7.0 * pool_winners; }
    Bytes total() const { return parameters + gradients + momentum + images + kept() + working; }
};

/// ReLU works in its input's place, a residual add in its first operand's; flatten and a pooling that keeps the size take no room.
Footprint footprint_of(const model::Graph& graph, int batch, Precision precision, Passes passes);

/// A forward pass that keeps nothing for a backward pass: parameters, images, and the two largest neighbouring activations.
Bytes inference_bytes(const model::Graph& graph, int batch, Precision precision);

/// The most images whose footprint is no larger than `memory`; 0 if not even one fits.
int largest_batch(const model::Graph& graph, Precision precision, Passes passes, Bytes memory);

}  // namespace roof::analysis
