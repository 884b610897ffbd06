// Where the trained values lie. All values are one block, all gradients another, all momenta and all narrow copies one each; in each
// the parameters come in the same order, that in which the backward pass completes their gradients (only a residual block's last
// batch norm is completed a little before its turn), every one at a multiple of 128 numbers. So one kernel updates all, and an all-reduce works on ranges of one piece.
#pragma once

#include "workloads/cudnn/program/program.hpp"
#include "workloads/cudnn/program/settings.hpp"
#include "workloads/model/graph.hpp"

#include <vector>

namespace roof::cudnn {

/// A trained tensor in channels-last order: a convolution's weights [o][y][x][i], a linear layer's [o][inputs], where the inputs
/// behind a map come as the map is stored.
struct Trained {
    Tensor value, gradient, momentum;
    Tensor read;            ///< what the passes read: the value, or its narrow copy
    std::size_t first = 0;  ///< number of its first value in each block
    std::size_t count = 0;
    model::Shape per_output;  ///< what one output channel's weights span: {inputs, height, width}

    /// PyTorch's order of the k-th stored value.
    std::size_t pytorch_place(std::size_t k) const;
};

class Parameters {
  public:
    Parameters() = default;
    Parameters(const model::Graph& graph, const Settings& settings, Program& program);

    /// In the order of graph.parameters().
    const std::vector<Trained>& all() const { return trained_; }
    const Trained& of(int layer, bool is_bias) const { return trained_[index_of(layer, is_bias)]; }
    std::size_t index_of(int layer, bool is_bias) const;
    /// Numbers in order of readiness: later layers first.
    const std::vector<std::size_t>& order() const { return order_; }

    Tensor values, gradients, momenta, copies;  ///< the blocks; copies: none in fp32

  private:
    std::vector<model::Parameter> described_;
    std::vector<Trained> trained_;
    std::vector<std::size_t> order_;
};

}  // namespace roof::cudnn
