#include "workloads/engine/layers/builder.hpp"

#include <algorithm>
#include <array>

namespace roof::ir {

namespace {

int image_block_of(const model::Graph& graph, const Settings& settings, const Choosers& choosers)
{
    const model::Shape& image = graph.layer(0).output;
    const std::vector<int> reading = readers(graph, 0);
    if (!choosers.deep_images || image.channels != 3 || reading.size() != 1) return 0;
    const model::Layer& first = graph.layer(reading.front());
    const int stride = first.window.stride;
    constexpr std::array strides{1, 2, 4, 16, 32};  // the last two of patches
    const bool is_possible = std::ranges::find(strides, stride) != strides.end() && first.groups == 1 &&
                             first.window.dilation == 1 && first.window.is_square();
    if (first.kind != model::LayerKind::convolution || !is_possible) return 0;
    const bool deep = choosers.deep_images(
        {model::convolution_of(graph, reading.front(), settings.batch), Pass::forward, settings.precision});
    return deep ? stride : 0;
}

}  // namespace

Work to_work(const model::PassWork& work)
{
    return {.flops = work.flops, .no_reuse = work.no_reuse};
}

Builder::Builder(const model::Graph& network, const Settings& chosen, const Choosers& who, Program& into)
    : graph(network),
      settings(chosen),
      list(into),
      convolves_positions(who.convolves_positions),
      attention_blocks(who.attention_blocks),
      image_block(image_block_of(network, chosen, who)),
      parameters(network, chosen, image_block, who.outputs_multiple, into),
      outputs(network.layers().size()),
      shares_(network.layers().size())
{
    Tensor planar = map(0);
    planar.precision = Precision::fp32;
    images = list.resident(planar);
    const int positions = settings.batch * graph.labels_each();
    const Tensor numbers{.batch = 1, .channels = positions, .precision = Precision::int32};
    labels_given = list.resident(numbers);
    labels = list.resident(numbers);
    row_losses = list.resident({.batch = 1, .channels = positions});
}

void Builder::begin(const std::vector<int>& layers, Phase phase)
{
    std::vector<std::string> names;
    for (const int index : layers) names.push_back(graph.layer(index).name);
    list.begin(join(names, "+"), std::string(name(graph.layer(layers.front()).kind)), phase);
}

Work Builder::work_of(const Unit& unit, Phase phase) const
{
    const model::LayerWork of_layer = work(unit.layer);
    Work done = to_work(phase == Phase::forward ? of_layer.forward : of_layer.backward_data);
    if (!model::is_contraction(layer(unit).kind)) done.no_reuse = {};
    if (of_layer.executed < 1) done.executed = done.flops * of_layer.executed;
    if (phase == Phase::forward && unit.fused()) done.flops += work(unit.relu).forward.flops;
    return done;
}

void Builder::write_simple(const Unit& unit, const std::function<Tensor(const Tensor&)>& forward,
                           const std::function<Tensor(const Tensor&)>& backward)
{
    begin_with_work(unit, Phase::forward);
    put(unit, forward(input(unit)));
    tape.emplace_back([=, this] {
        begin_with_work(unit, Phase::backward);
        give(source(unit), backward(gradient(unit.layer)));
    });
}

void Builder::pass_through(const Unit& unit)
{
    put(unit, input(unit));
    tape.emplace_back([=, this] { give(source(unit), gradient(unit.layer)); });
}

Tensor Builder::gradient_like(int index)
{
    Tensor made = list.tensor(map(index));
    made.like = output(index).block;
    return made;
}

void Builder::put(const Unit& unit, const Tensor& tensor)
{
    output(unit.layer) = tensor;
    output(unit.last()) = tensor;
}

std::vector<Tensor> Builder::shares(int layer, std::size_t most)
{
    std::vector<Tensor> all = shares_[static_cast<std::size_t>(layer)];
    for (Tensor& share : all) share.like = output(layer).block;
    while (all.size() > most) {
        const Tensor last = all.back();
        all.pop_back();
        const Tensor sum = list.tensor(all.back());
        list.append(MaskGradient{.share = all.back(), .other_share = last, .output = {}, .result = sum}, "roof:sum",
                    {.flops = Flops{static_cast<double>(sum.elements())}});
        all.back() = sum;
    }
    return all;
}

using model::LayerKind;

std::vector<int> readers(const model::Graph& graph, int layer)
{
    std::vector<int> found;
    for (int reader = layer + 1; reader < static_cast<int>(graph.layers().size()); ++reader) {
        const std::vector<int>& inputs = graph.layer(reader).inputs;
        if (std::ranges::find(inputs, layer) != inputs.end()) found.push_back(reader);
    }
    return found;
}

int relu_behind(const model::Graph& graph, int layer)
{
    constexpr std::array hosts{LayerKind::convolution, LayerKind::linear, LayerKind::batch_norm, LayerKind::add};
    if (std::ranges::find(hosts, graph.layer(layer).kind) == hosts.end()) return -1;
    const std::vector<int> reading = readers(graph, layer);
    const bool alone = reading.size() == 1 && graph.layer(reading.front()).kind == LayerKind::relu;
    return alone ? reading.front() : -1;
}

std::vector<int> whole_cut(const model::Graph& graph, int layer)
{
    std::vector<int> slices = readers(graph, layer);
    int next = 0;
    std::ranges::sort(slices, {}, [&](int slice) { return graph.layer(slice).first; });
    for (const int slice : slices) {
        const model::Layer& of = graph.layer(slice);
        if (of.kind != LayerKind::slice || of.first != next) return {};
        next += of.output.channels;
    }
    std::ranges::sort(slices);
    return next == graph.layer(layer).output.channels ? slices : std::vector<int>{};
}

std::vector<Unit> units_of(const model::Graph& graph)
{
    std::vector<Unit> units;
    std::vector<bool> taken(graph.layers().size());
    for (int index = 0; index < static_cast<int>(graph.layers().size()); ++index) {
        if (taken[static_cast<std::size_t>(index)]) continue;
        units.push_back({.layer = index, .relu = relu_behind(graph, index)});
        taken[static_cast<std::size_t>(units.back().last())] = true;
    }
    return units;
}

}  // namespace roof::ir
