#include "workloads/onednn/layers/builder.hpp"

#include "ert/base/text.hpp"
#include "workloads/onednn/layers/layers.hpp"

#include <algorithm>

namespace roof::onednn {

Builder::Builder(const model::Graph& network, const Settings& chosen, Program& into)
    : graph(network),
      settings(chosen),
      program(into),
      outputs(network.layers().size()),
      trained(network.parameters().size()),
      backward_stages(network.layers().size()),
      shares_(network.layers().size())
{
}

model::LayerWork Builder::work(int index) const
{
    return model::work_of(graph, index, settings.batch, settings.precision);
}

Dims Builder::map(int index) const
{
    const model::Shape& shape = graph.layer(index).output;
    return {settings.batch, shape.channels, shape.height, shape.width};
}

void Builder::put(const Unit& unit, const Tensor& output)
{
    outputs[static_cast<std::size_t>(unit.layer)] = output;
    outputs[static_cast<std::size_t>(unit.last())] = output;
}

void Builder::begin_joint(const std::vector<int>& layers, Phase phase)
{
    std::vector<std::string> names;
    for (const int index : layers) names.push_back(graph.layer(index).name);
    program.begin(join(names, "+"), std::string(model::name(graph.layer(layers.front()).kind)), phase);
    if (phase != Phase::backward) return;
    for (const int index : layers) backward_stages[static_cast<std::size_t>(index)] = program.stage();
}

void Builder::begin(const Unit& unit, Phase phase)
{
    begin_joint(unit.fused() ? std::vector<int>{unit.layer, unit.relu} : std::vector<int>{unit.layer}, phase);
}

void Builder::add_work(const model::PassWork& work)
{
    program.add_work(to_work(work));
}

void Builder::add_flops(Flops flops)
{
    program.add_work({.flops = flops, .compulsory = {}, .no_reuse = {}});
}

Trained& Builder::train(int layer, bool is_bias, const Desc& layout, Dims dims)
{
    Trained& made = place_of(layer, is_bias);
    made = {program.resident(layout), stored_gradient(layout), program.resident(layout), std::move(dims)};
    return made;
}

Tensor Builder::stored_gradient(const Desc& layout)
{
    return settings.ranks == nullptr ? program.resident(layout) : program.outside(layout);
}

Trained& Builder::train_rows(int layer, const Dims& dims, Dim apart)
{
    Trained& made = place_of(layer, false);
    const Desc layout = rows(dims, apart);
    made = {program.resident(layout), {}, program.resident(layout), dims};
    if (settings.ranks != nullptr) made.gradient = stored_gradient(layout);
    if (settings.precision == Precision::bf16) made.copy = program.resident(rows(dims, apart, Precision::bf16));
    return made;
}

Trained& Builder::place_of(int layer, bool is_bias)
{
    const std::vector<model::Parameter> parameters = graph.parameters();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (parameters[k].layer == layer && parameters[k].is_bias == is_bias) return trained[k];
    }
    throw Error(graph.layer(layer).name + " has no such parameter");
}

std::vector<Gradient> Builder::shares(int layer, std::size_t most)
{
    const Desc layout = outputs[static_cast<std::size_t>(layer)].desc();
    std::vector<Gradient> given;
    for (const Gradient& share : shares_[static_cast<std::size_t>(layer)]) {
        const Tensor tensor = program.in_layout(share.tensor, layout);
        given.push_back({tensor, share.shared && tensor.block == share.tensor.block});
    }
    while (given.size() > most) {
        const Gradient right = given.back();
        given.pop_back();
        given.back() = sum_gradients(*this, given.back(), right);
    }
    return given;
}

}  // namespace roof::onednn
