// What the layers need while they write themselves into a program: the network's graph, the tensors so far, and a tape. A
// layer appends its forward pass at once and puts its backward pass on the tape, which is played from its end.
#pragma once

#include "workloads/engine/unit.hpp"
#include "workloads/kernels/linear/products.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/work.hpp"
#include "workloads/onednn/program/program.hpp"
#include "workloads/onednn/program/settings.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace roof::onednn {

using engine::readers;
using engine::relu_behind;
using engine::to_work;
using engine::Unit;

/// A linear layer's weights have no stored gradient: it is the product of these two, row after row.
struct GradientFactors {
    LinearShape shape;
    Tensor source;           ///< [batch][inputs]
    Tensor result_gradient;  ///< [batch][outputs]
};

/// A trained tensor, its gradient and its momentum, all of one layout. `dims` are PyTorch's (OIHW).
struct Trained {
    Tensor value, gradient, momentum;
    Dims dims;
    std::optional<Tensor> copy{};              ///< the value in bf16, in the same layout
    std::optional<GradientFactors> factors{};  ///< instead of a gradient
};

/// A batch norm's running statistics, [channels] each.
struct Running {
    std::string layer;
    Tensor mean, variance;
};

/// A tensor's gradient. `shared`: others read it later, so it must not be overwritten.
struct Gradient {
    Tensor tensor;
    bool shared = false;
};

class Builder {
  public:
    Builder(const model::Graph& graph, const Settings& settings, Program& program);

    const model::Graph& graph;
    const Settings& settings;
    Program& program;
    std::vector<Tensor> outputs;   ///< by layer
    std::vector<Trained> trained;  ///< in the order of graph.parameters()
    std::vector<Running> running;
    std::vector<std::size_t> backward_stages;            ///< by layer: the stage in which its gradients are made
    std::map<std::string, int, std::less<>> algorithms;  ///< convolution passes by what computes them
    std::vector<std::function<void()>> tape;
    std::vector<std::function<void()>> updates;  ///< of what sgd() does not update itself

    const model::Layer& layer(const Unit& unit) const { return graph.layer(unit.layer); }
    /// The first of the layer's inputs.
    int source(const Unit& unit) const { return layer(unit).inputs.front(); }
    bool is_image(int index) const { return index == 0; }
    model::LayerWork work(int index) const;
    /// {batch, channels, height, width} of what the layer puts out.
    Dims map(int index) const;
    Dims flat(int index) const { return {settings.batch, graph.layer(index).output.channels}; }

    /// Sets the unit's output, which is that of both its layers.
    void put(const Unit& unit, const Tensor& output);
    /// Opens the stage of the layers, whose kind is the first one's: "conv1", "bn1+relu".
    void begin_joint(const std::vector<int>& layers, Phase phase);
    void begin(const Unit& unit, Phase phase);
    void add_work(const model::PassWork& work);
    /// FLOPs alone: what is done in passing, on values that another pass moves anyway.
    void add_flops(Flops flops);

    /// Creates the layer's weight or bias in this layout; `dims` are PyTorch's.
    Trained& train(int layer, bool is_bias, const Desc& layout, Dims dims);
    /// A linear layer's weights: rows `apart` numbers apart, a gradient with ranks alone; if the layers read bf16, a copy.
    Trained& train_rows(int layer, const Dims& dims, Dim apart);

    /// One consumer's share of the gradient of the layer's output.
    void give(int layer, const Gradient& share) { shares_[static_cast<std::size_t>(layer)].push_back(share); }
    /// What the consumers gave, in the layout of the layer's output; sums until at most `most` shares are left.
    std::vector<Gradient> shares(int layer, std::size_t most);
    Gradient gradient(int layer) { return shares(layer, 1).front(); }

  private:
    Trained& place_of(int layer, bool is_bias);
    Tensor stored_gradient(const Desc& layout);

    std::vector<std::vector<Gradient>> shares_;  ///< by layer
};

}  // namespace roof::onednn
