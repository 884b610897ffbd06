// What the layers need to write themselves as operations: the graph, the shares of each gradient, and a tape. A layer
// appends its forward pass at once and puts its backward pass on the tape, which is played from its end.
#pragma once

#include "ert/base/text.hpp"
#include "workloads/engine/ir/list.hpp"
#include "workloads/engine/layers/parameters.hpp"
#include "workloads/engine/settings.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/work.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace roof::ir {

// The layers of a network in the order in which they are written, each with the ReLU that is computed with it.

/// A layer, and the ReLU that is computed with it, if any.
struct Unit {
    int layer = 0;
    int relu = -1;

    bool fused() const { return relu >= 0; }
    int last() const { return fused() ? relu : layer; }
};

/// The layers that read this layer's output.
std::vector<int> readers(const model::Graph& graph, int layer);
/// The ReLU that alone reads this layer's output, if this kind can compute it; -1 if there is none.
int relu_behind(const model::Graph& graph, int layer);

/// The layers that read this layer, if these are slices that together take each of its channels once.
std::vector<int> whole_cut(const model::Graph& graph, int layer);

/// All layers of the network as units, in the order of its layers: a ReLU that goes with a layer has none of its own.
std::vector<Unit> units_of(const model::Graph& graph);

/// A batch norm's running statistics, [channels] each.
struct Running {
    std::string layer;
    Tensor mean, variance;
};

/// FLOPs of a pass, and the traffic without reuse of one with products. What it moves is that of its operations.
Work to_work(const model::PassWork& work);

class Builder {
  public:
    /// All must outlive the builder.
    Builder(const model::Graph& graph, const Settings& settings, const Choosers& choosers, Program& program);

    const model::Graph& graph;
    const Settings& settings;
    List list;
    bool convolves_positions;  ///< as in Choosers
    int attention_blocks;      ///< as in Choosers
    int image_block;  ///< the first convolution reads images by space to depth in squares of so many positions; 0: as
                      ///< they are
    Parameters parameters;
    Tensor images, labels_given, labels, row_losses;
    std::vector<Tensor> outputs;  ///< indexed by layer
    std::vector<Running> running;
    std::vector<Tensor> caches;  ///< as in StepProgram
    std::vector<std::function<void()>> tape;
    std::map<int, Tensor> gradients_of_slices;  ///< by the layer that is cut

    const model::Layer& layer(const Unit& unit) const { return graph.layer(unit.layer); }
    /// The first of the layer's inputs.
    int source(const Unit& unit) const { return layer(unit).inputs.front(); }
    bool is_image(int index) const { return index == 0; }
    model::LayerWork work(int index) const { return model::work_of(graph, index, settings.batch, settings.precision); }

    /// Whether the layer is written as a convolution.
    bool is_convolved(int index) const
    {
        return graph.layer(index).kind == model::LayerKind::convolution ||
               (graph.is_of_positions(index) && convolves_positions);
    }

    /// Opens the stage of these layers, "bn1+relu", of the first one's kind.
    void begin(const std::vector<int>& layers, Phase phase);
    void begin(const Unit& unit, Phase phase)
    {
        begin(unit.fused() ? std::vector{unit.layer, unit.relu} : std::vector{unit.layer}, phase);
    }
    /// FLOPs of the unit: forward with those of its ReLU, backward those of the layer's backward_data.
    Work work_of(const Unit& unit, Phase phase) const;
    /// Opens the unit's stage with its FLOPs.
    void begin_with_work(const Unit& unit, Phase phase)
    {
        begin(unit, phase);
        list.add_work(work_of(unit, phase));
    }
    void add_flops(Flops flops) { list.add_work({.flops = flops}); }

    Tensor& output(int index) { return outputs[static_cast<std::size_t>(index)]; }
    Tensor input(const Unit& unit) { return output(source(unit)); }

    /// Returns the shape of the layer's output for a batch, without memory.
    Tensor map(int index) const { return maps_of(settings.batch, graph.layer(index).output, settings.storage()); }
    /// Returns a new tensor for a gradient of the layer's output.
    Tensor gradient_like(int index);
    Tensor channels_of(int index) const { return {.batch = 1, .channels = graph.layer(index).output.channels}; }

    void put(const Unit& unit, const Tensor& tensor);
    /// Adds a share of the gradient of the layer's output.
    void give(int index, const Tensor& share) { shares_[static_cast<std::size_t>(index)].push_back(share); }
    /// Returns the sum of the gradient's shares; with `most` 2, up to two shares stay separate.
    std::vector<Tensor> shares(int layer, std::size_t most);
    Tensor gradient(int layer) { return shares(layer, 1).front(); }

    /// Marks the gradient of weight or bias as complete by the open stage, but of another layer's weights.
    void completed(int layer, bool is_bias)
    {
        if (is_bias || graph.layer(layer).weights_of < 0) list.completes(parameters.index_of(layer, is_bias));
    }
    /// Writes a layer without weights: `forward` makes the result, `backward` the source's gradient of the result's.
    void write_simple(const Unit& unit, const std::function<Tensor(const Tensor&)>& forward,
                      const std::function<Tensor(const Tensor&)>& backward);
    /// A layer whose output is its input: flatten, disabled dropout, pooling to the size of the input. It has no stage.
    void pass_through(const Unit& unit);

  private:
    std::vector<std::vector<Tensor>> shares_;  ///< by layer
};

}  // namespace roof::ir
