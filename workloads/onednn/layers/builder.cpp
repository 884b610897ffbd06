#include "workloads/onednn/layers/builder.hpp"

#include "workloads/onednn/layers/layers.hpp"

#include <algorithm>

namespace roof::onednn {

Builder::Builder(const model::Graph& network, const Settings& chosen, Program& into, StepState& shared_state)
    : engine::Builder<Program, Tensor>(network, into, chosen.batch, chosen.precision),
      settings(chosen),
      state(shared_state),
      outputs(network.layers().size()),
      trained(network.parameters().size()),
      parameters_(network.parameters())
{
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

void Builder::begin(const std::vector<int>& layers, Phase phase)
{
    engine::Builder<Program, Tensor>::begin(layers, phase);
    if (phase != Phase::backward) return;
    for (std::size_t k = parameters_.size(); k-- > 0;) {
        if (std::ranges::find(layers, parameters_[k].layer) != layers.end()) program.completes(k);
    }
}

Trained& Builder::train(int layer, bool is_bias, const Desc& layout, Dims dims)
{
    Trained& made = place_of(layer, is_bias);
    made = {program.resident(layout), settings.ranks == nullptr ? program.resident(layout) : program.outside(layout),
            program.resident(layout), std::move(dims)};
    return made;
}

Trained& Builder::train_rows(int layer, const Dims& dims, Dim apart)
{
    Trained& made = place_of(layer, false);
    const Desc layout = rows(dims, apart);
    made = {program.resident(layout), {}, program.resident(layout), dims};
    if (settings.ranks != nullptr) made.gradient = program.outside(layout);
    if (settings.precision == Precision::bf16) made.copy = program.resident(rows(dims, apart, Precision::bf16));
    return made;
}

Trained& Builder::place_of(int layer, bool is_bias)
{
    return trained[engine::parameter_index(parameters_, layer, is_bias)];
}

std::vector<Gradient> Builder::shares(int layer, std::size_t most)
{
    const Desc layout = outputs[static_cast<std::size_t>(layer)].desc();
    std::vector<Gradient> all;
    for (const Gradient& share : given(layer)) {
        const Tensor tensor = program.in_layout(share.tensor, layout);
        all.push_back({tensor, share.shared && tensor.block == share.tensor.block});
    }
    while (all.size() > most) {
        const Gradient right = all.back();
        all.pop_back();
        all.back() = sum_gradients(*this, all.back(), right);
    }
    return all;
}

}  // namespace roof::onednn
