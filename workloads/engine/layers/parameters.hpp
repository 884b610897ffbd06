// Memory layout of the trained values: values, gradients, their averages and narrow copies are one block each, in the
// order in which the backward pass completes the gradients (a residual block's last batch norm completes slightly
// early). Parameters start at multiples of 128 values. So one kernel updates all, and an all-reduce uses ranges of one
// block.
#pragma once

#include "workloads/engine/ir/program.hpp"
#include "workloads/engine/settings.hpp"
#include "workloads/model/graph.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roof::ir {

using engine::Settings;

/// A trained tensor, channels-last: convolution [o][y][x][i], linear [o][inputs], in the order of the map before it.
struct Trained {
    Tensor value, gradient, momentum;
    Tensor read;              ///< tensor that the passes read: the value or its narrow copy
    std::size_t first = 0;    ///< index of its first value in each block
    std::size_t count = 0;    ///< as stored
    std::size_t given = 0;    ///< in PyTorch
    int outputs = 0;          ///< as stored: those beyond PyTorch's are zeros
    model::Shape per_output;  ///< shape of the weights of one output channel: {inputs, height, width}
    DepthWeights depth{};     ///< of the first convolution, if it reads images by space to depth

    /// Whether the stored values are PyTorch's in its order, and then zeros.
    bool has_pytorch_order() const { return depth.block == 0 && per_output.height * per_output.width == 1; }
    /// Returns the index in PyTorch's order of stored value k; nothing if it is none of PyTorch's, and always zero.
    std::optional<std::size_t> pytorch_place(std::size_t k) const;
};

/// Whether the layer treats all values alike.
bool keeps_order(model::LayerKind kind);
/// Whether the values of this flattened map are stored in PyTorch's order, because a layer reads that order, by way of
/// layers that treat all values alike. Else they keep the order of the map, and so do the weights of the linear layers
/// that read them.
bool is_in_pytorch_order(const model::Graph& graph, int flatten);

class Parameters {
  public:
    Parameters() = default;
    /// `image_block`: as in Builder. `outputs_multiple`: as in Choosers.
    Parameters(const model::Graph& graph, const Settings& settings, int image_block, int outputs_multiple,
               Program& program);

    /// Order: graph.parameters().
    const std::vector<Trained>& all() const { return trained_; }
    /// Weights may be those of another layer.
    const Trained& of(int layer, bool is_bias) const { return trained_[index_of(layer, is_bias)]; }
    std::size_t index_of(int layer, bool is_bias) const;
    /// A line on each parameter in order of readiness: what must be the same on all ranks so that they add the same
    /// gradients.
    std::string layouts() const;
    /// A line on each parameter with the checksum of its values; `values`: the block of that name.
    std::string checksums(std::span<const float> values) const;
    /// Returns the indices of the parameters in order of readiness: later layers first.
    const std::vector<std::size_t>& order() const { return order_; }

    /// The blocks; squares: AdamW only, copies: not in fp32; values and copies alone where nothing is trained.
    Tensor values, gradients, momenta, squares, copies;

  private:
    std::vector<model::Parameter> described_;
    std::vector<int> weights_of_;  ///< by layer, as model::Layer has it
    std::vector<Trained> trained_;
    std::vector<std::size_t> order_;
};

}  // namespace roof::ir
