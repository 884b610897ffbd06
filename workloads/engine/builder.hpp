// What the layers of every engine need to write themselves into a program: the network's graph, the shares of each
// gradient, and a tape. A layer appends its forward pass at once and puts its backward pass on the tape, which is
// played from its end.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/subject.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/work.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace roof::engine {

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

/// The layer and, if it is fused, its ReLU.
std::vector<int> layers_of(const Unit& unit);
/// The index in `parameters` of the layer's weight or bias. Throws Error if it has none.
std::size_t parameter_index(const std::vector<model::Parameter>& parameters, int layer, bool is_bias);

Work to_work(const model::PassWork& work);

/// A batch norm's running statistics, [channels] each.
template <class Tensor>
struct Running {
    std::string layer;
    Tensor mean, variance;
};

/// One consumer's share of a gradient. `shared`: it is read again later and must not be overwritten.
template <class Tensor>
struct GradientShare {
    Tensor tensor;
    bool shared = false;
};

template <class Program, class Tensor>
class Builder {
  public:
    using Share = GradientShare<Tensor>;

    /// All must outlive the builder.
    Builder(const model::Graph& network, Program& into, int batch, Precision precision)
        : graph(network), program(into), shares_(network.layers().size()), batch_(batch), precision_(precision)
    {
    }

    const model::Graph& graph;
    Program& program;
    std::vector<Running<Tensor>> running;
    std::map<std::string, int, std::less<>> algorithms;  ///< passes of convolutions by algorithm
    std::vector<std::function<void()>> tape;
    std::map<int, Tensor> gradients_of_slices;  ///< by the layer that is cut

    const model::Layer& layer(const Unit& unit) const { return graph.layer(unit.layer); }
    /// The first of the layer's inputs.
    int source(const Unit& unit) const { return layer(unit).inputs.front(); }
    bool is_image(int index) const { return index == 0; }
    model::LayerWork work(int index) const { return model::work_of(graph, index, batch_, precision_); }

    /// Opens the stage of these layers, "bn1+relu", of the first one's kind.
    void begin(const std::vector<int>& layers, Phase phase)
    {
        std::vector<std::string> names;
        for (const int index : layers) names.push_back(graph.layer(index).name);
        program.begin(join(names, "+"), std::string(model::name(graph.layer(layers.front()).kind)), phase);
    }
    void begin(const Unit& unit, Phase phase) { begin(layers_of(unit), phase); }
    void add_work(const model::PassWork& work) { program.add_work(to_work(work)); }
    /// FLOPs on values that another pass moves anyway.
    void add_flops(Flops flops) { program.add_work({.flops = flops, .compulsory = {}, .no_reuse = {}}); }
    /// A pass of a convolution by this algorithm.
    void add_convolution(const Work& work, const std::string& algorithm)
    {
        program.add_work(work);
        ++algorithms[algorithm];
    }

    /// Adds a share of the gradient of the layer's output.
    void give(int index, const Share& share) { shares_[static_cast<std::size_t>(index)].push_back(share); }

  protected:
    const std::vector<Share>& given(int index) const { return shares_[static_cast<std::size_t>(index)]; }

  private:
    std::vector<std::vector<Share>> shares_;  ///< by layer
    int batch_;
    Precision precision_;
};

/// Opens the unit's stage with its work: forward with the FLOPs of its ReLU, backward that of the layer's backward_data.
template <class Builder>
void begin_with_work(Builder& build, const Unit& unit, Phase phase)
{
    const model::LayerWork work = build.work(unit.layer);
    build.begin(unit, phase);
    build.add_work(phase == Phase::forward ? work.forward : work.backward_data);
    if (phase == Phase::forward && unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);
}

/// Writes a layer without weights: `forward` makes the result from the source, `backward` the gradient's share of the
/// source from the result's.
template <class Builder, class Forward, class Backward>
void write_simple(Builder& build, const Unit& unit, const Forward& forward, const Backward& backward)
{
    begin_with_work(build, unit, Phase::forward);
    build.put(unit, forward(build.input(unit)));
    build.tape.emplace_back([=, &build] {
        begin_with_work(build, unit, Phase::backward);
        build.give(build.source(unit), backward(build.gradient(unit.layer)));
    });
}

/// A layer whose output is its input: flatten, disabled dropout, pooling to the size of the input. It has no stage.
template <class Builder>
void pass_through(Builder& build, const Unit& unit)
{
    build.put(unit, build.input(unit));
    build.tape.emplace_back([=, &build] { build.give(build.source(unit), build.gradient(unit.layer)); });
}

/// Writes one unit by the engine's function for its kind, which is in the builder's namespace.
template <class Builder>
void write_unit(Builder& build, const Unit& unit)
{
    using model::LayerKind;
    switch (build.layer(unit).kind) {
        case LayerKind::input:
            return;
        case LayerKind::convolution:
            return convolution(build, unit);
        case LayerKind::batch_norm:
            return batch_norm(build, unit);
        case LayerKind::relu:
            return relu(build, unit);
        case LayerKind::max_pool:
            return max_pool(build, unit);
        case LayerKind::average_pool:
            return average_pool(build, unit);
        case LayerKind::add:
            return add(build, unit);
        case LayerKind::flatten:
            return pass_through(build, unit);
        case LayerKind::dropout:
            return dropout(build, unit);
        case LayerKind::linear:
            return linear(build, unit);
        case LayerKind::relu6:
            return relu6(build, unit);
        case LayerKind::concat:
            return concat(build, unit);
        case LayerKind::hard_swish:
        case LayerKind::hard_sigmoid:
        case LayerKind::silu:
        case LayerKind::sigmoid:
            return activation(build, unit);
        case LayerKind::multiply:
            return multiply(build, unit);
        case LayerKind::slice:
            return slice(build, unit);
        case LayerKind::shuffle:
            return shuffle(build, unit);
    }
}

/// Writes the step behind the input: forward, loss, backward, update.
template <class Builder>
void write_layers(Builder& build)
{
    for (const Unit& unit : units_of(build.graph)) write_unit(build, unit);
    softmax_cross_entropy(build);
    for (auto backward = build.tape.rbegin(); backward != build.tape.rend(); ++backward) (*backward)();
    sgd(build);
}

}  // namespace roof::engine
