// Builder state that only the layers of the CPU engine need.
#pragma once

#include "workloads/engine/builder.hpp"
#include "workloads/kernels/linear/products.hpp"
#include "workloads/onednn/program/program.hpp"
#include "workloads/onednn/program/settings.hpp"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace roof::onednn {

using engine::begin_with_work;
using engine::pass_through;
using engine::readers;
using engine::relu_behind;
using engine::to_work;
using engine::Unit;
using engine::write_simple;

/// The two factors of a linear layer's weight gradient, which is not stored. Rows are contiguous.
struct GradientFactors {
    LinearShape shape;
    Tensor source;           ///< [batch][inputs]
    Tensor result_gradient;  ///< [batch][outputs]
};

/// A trained tensor, its gradient and its momentum, all in one layout. `dims` are PyTorch's (OIHW).
struct Trained {
    Tensor value, gradient, momentum;
    Dims dims;
    Tensor copy{};                             ///< the value in bf16, in the same layout; or none
    std::optional<GradientFactors> factors{};  ///< replaces the gradient
};

using Running = engine::Running<Tensor>;
using Gradient = engine::GradientShare<Tensor>;

class Builder : public engine::Builder<Program, Tensor> {
  public:
    /// `state`: shared by the program's operations; must outlive the program.
    Builder(const model::Graph& graph, const Settings& settings, Program& program, StepState& state);

    const Settings& settings;
    StepState& state;
    std::vector<Tensor> outputs;                 ///< per layer
    std::vector<Trained> trained;                ///< in the order of graph.parameters()
    std::vector<std::function<void()>> updates;  ///< for the parameters that sgd() does not update itself

    /// {batch, channels, height, width} of the layer's output.
    Dims map(int index) const;
    Dims flat(int index) const { return {settings.batch, graph.layer(index).output.channels}; }
    const Tensor& input(const Unit& unit) const { return outputs[static_cast<std::size_t>(source(unit))]; }

    /// Sets the output of the unit's layers.
    void put(const Unit& unit, const Tensor& output);
    /// Opens the stage of these layers. A backward stage completes the gradients of their parameters.
    void begin(const std::vector<int>& layers, Phase phase);
    void begin(const Unit& unit, Phase phase) { begin(engine::layers_of(unit), phase); }

    /// Creates the layer's weight or bias in this layout. `dims` are PyTorch's.
    Trained& train(int layer, bool is_bias, const Desc& layout, Dims dims);
    /// Creates a linear layer's weights: rows `apart` numbers apart, a gradient only with ranks, and a bf16 copy if the
    /// passes read bf16.
    Trained& train_rows(int layer, const Dims& dims, Dim apart);

    /// The terms of the gradient in the layout of the layer's output, summed until at most `most` remain.
    std::vector<Gradient> shares(int layer, std::size_t most);
    Gradient gradient(int layer) { return shares(layer, 1).front(); }
    /// The gradient's own memory where nothing else reads it, or a new tensor of its layout.
    Tensor over(const Gradient& given) { return given.shared ? program.tensor(given.tensor.desc()) : given.tensor; }

  private:
    Trained& place_of(int layer, bool is_bias);

    std::vector<model::Parameter> parameters_;
};

}  // namespace roof::onednn
