#include "workloads/engine/layers/units.hpp"

#include <algorithm>
#include <array>

namespace roof::ir {

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
