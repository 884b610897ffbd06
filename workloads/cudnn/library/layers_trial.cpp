#include "workloads/cudnn/library/layers_trial.hpp"

#include "workloads/cudnn/library/bind.hpp"
#include "workloads/engine/layers/layers.hpp"

#include <algorithm>

namespace roof::cudnn {
namespace {

int last_of(const model::Graph& graph)
{
    return static_cast<int>(graph.layers().size()) - 1;
}

}  // namespace

LayersTrial::LayersTrial(const model::Graph& graph, int first, const Settings& settings,
                         const std::array<Choosers, 2>& ways, Timed timed, const Bind& bind)
    : tolerance_(settings.narrow() ? 1e-2 : 1e-4)
{
    const auto map = [&](int layer) { return maps_of(settings.batch, graph.layer(layer).output, settings.storage()); };
    std::vector<Tensor> outputs(1);  // no image
    for (int layer = 1; layer < first; ++layer) outputs.push_back(value(map(layer), pattern(-0.7F)));
    std::vector<float> values = pattern(-0.8F);
    std::ranges::reverse(values);  // the gradient of a batch norm is 0 where the gradient given is its source
    const Tensor gradient = timed == Timed::forward ? Tensor{} : value(map(last_of(graph)), values);
    std::array<std::vector<Tensor>, 2> results;
    std::array<std::size_t, 2> ends{};
    for (std::size_t way = 0; way < ways.size(); ++way) {
        Builder build(graph, settings, ways[way], program_);
        results[way] = write(build, first, outputs, gradient);
        ends[way] = program_.stages().size();
    }
    for (std::size_t i = 0; i < results[0].size(); ++i) results_.emplace_back(results[0][i], results[1][i]);
    place("trying a batch norm");
    fill();
    for (std::size_t i = 0; i < ends[1]; ++i) {
        const Program::Stage& stage = program_.stages()[i];
        Way& way = ways_[i < ends[0] ? 0 : 1];
        const bool is_before = timed == Timed::backward && stage.part.phase == Phase::forward;
        for (const ir::Operation& operation : stage.operations)
            (is_before ? way.before : way.timed).push_back(bind(operation, memory()));
    }
}

std::vector<Tensor> LayersTrial::write(Builder& build, int first, const std::vector<Tensor>& outputs,
                                       const Tensor& gradient)
{
    for (std::size_t layer = 0; layer < outputs.size(); ++layer) build.outputs[layer].tensor = outputs[layer];
    for (const ir::Unit& unit : ir::units_of(build.graph)) {
        if (unit.layer >= first) ir::write_unit(build, unit);
    }
    const int last = last_of(build.graph);
    std::vector<Tensor> results{build.output(last).tensor};
    for (const Running& running : build.running) results.insert(results.end(), {running.mean, running.variance});
    if (gradient) {
        build.give(last, {gradient, true});
        for (auto backward = build.tape.rbegin(); backward != build.tape.rend(); ++backward) (*backward)();
        results.push_back(build.gradient(build.graph.layer(first).inputs.front()).tensor);
    }
    const std::vector<model::Parameter> parameters = build.graph.parameters();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (parameters[k].layer < first) continue;
        const Trained& trained = build.parameters.all()[k];
        for (const Tensor& one : {trained.value, trained.read})
            set(one, pattern(parameters[k].shape.size() == 1 ? 0.2F : -1));
        const auto narrow = std::ranges::find(build.waiting, parameters[k].layer, &std::pair<Tensor, int>::second);
        if (gradient) results.push_back(narrow == build.waiting.end() ? trained.gradient : narrow->first);
    }
    for (const Tensor& result : results) program_.keep(result);
    return results;
}

void LayersTrial::run() const
{
    fill();
    for (std::size_t way = 0; way < ways_.size(); ++way) {
        for (const std::function<void()>& operation : ways_[way].before) operation();
        enqueue(way);
    }
}

void LayersTrial::enqueue(std::size_t way) const
{
    for (const std::function<void()>& operation : ways_[way].timed) operation();
}

LayersTrial norm_trial(const NormShape& shape, const Choice& choice, const LayersTrial::Bind& bind)
{
    model::Graph graph("batch norm", {1, shape.map.height, shape.map.width});
    const int source = graph.convolution("source", 0, shape.map.channels, {}, false);
    const int norm = graph.batch_norm("norm", source, shape.epsilon);
    if (shape.relu) graph.relu("relu", norm);
    Choosers library;
    library.norm = [&](const NormShape& asked) { return asked == shape ? choice : Choice{}; };
    return {graph,
            norm,
            {.batch = shape.batch, .precision = shape.precision},
            {Choosers{}, library},
            shape.backward ? LayersTrial::Timed::backward : LayersTrial::Timed::forward,
            bind};
}

LayersTrial moments_trial(const ConvolutionPass& forward, Convolutions& convolutions, Products& products,
                          const gpu::Stream& stream)
{
    const int channels = forward.result.channels;
    model::Graph graph("moments", {1, forward.source.height, forward.source.width});
    const int source = graph.convolution("source", 0, forward.source.channels, {}, false);
    const int shortcut = graph.convolution("shortcut", 0, channels, {}, false);
    const int convolution = graph.convolution("convolution", source, channels, forward.window, false);
    graph.add("sum", graph.batch_norm("norm", convolution),
              shortcut);  // a ReLU would clip what rounding moves across 0
    const Choosers passes{[&](const ConvolutionPass& shape) { return convolutions.choose(shape); },
                          [&](const Product& product) { return products.choose(product); }};
    Choosers moments = passes;
    moments.moments = [](const ConvolutionPass&) { return true; };
    return {graph,
            convolution,
            {.batch = forward.batch, .precision = forward.precision},
            {passes, moments},
            LayersTrial::Timed::both,
            [&](const ir::Operation& operation, const Memory& memory) {
                return bound(operation, memory, stream, convolutions, products);
            }};
}

}  // namespace roof::cudnn
