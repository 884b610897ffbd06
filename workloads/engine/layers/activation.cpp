// ReLU and the other activations. A ReLU goes with the layer before it where that can compute it. The slope of a ReLU6
// is found from its result, which the next layer keeps; the others keep their source.
#include "workloads/engine/layers/layers.hpp"

#include <stdexcept>

namespace roof::ir {

Tensor gradient_of_unit(Builder& build, const Unit& unit)
{
    const bool has_bias = build.layer(unit).bias;
    if (!unit.fused() && !has_bias) return build.gradient(unit.layer);
    if (unit.fused()) build.add_flops(build.work(unit.relu).backward_data.flops);
    const std::vector<Tensor> given = build.shares(unit.last(), 2);
    const Tensor first = given.front();
    const Tensor other = given.size() > 1 ? given[1] : Tensor{};
    if (other) build.add_flops(Flops{static_cast<double>(other.elements())});
    const Tensor mask = unit.fused() ? build.output(unit.relu) : Tensor{};
    const bool changes = mask || other;
    const Tensor gradient = changes ? build.list.tensor(first) : first;
    if (!has_bias) {
        build.list.append(MaskGradient{first, other, mask, gradient}, "roof:relu");
        return gradient;
    }
    const ReduceGradient reduction{.share = first,
                                   .other_share = other,
                                   .output = mask,
                                   .result = changes ? gradient : Tensor{},
                                   .sum = build.parameters.of(unit.layer, true).gradient,
                                   .partial = build.list.tensor(partial_sums_of(first))};
    build.list.append(reduction, unit.fused() ? "roof:relu+bias_gradient" : "roof:bias_gradient");
    build.completed(unit.layer, true);
    return gradient;
}

void relu(Builder& build, const Unit& unit)
{
    build.begin_with_work(unit, Phase::forward);
    const Tensor source = build.input(unit);
    const Tensor result = build.list.tensor(source);
    build.list.append(Normalise{.source = source, .result = result, .relu = true}, "roof:relu");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        build.give(build.source(unit), {gradient_of_unit(build, {.layer = unit.layer, .relu = unit.layer})});
    });
}

void activation(Builder& build, const Unit& unit)
{
    const model::LayerKind kind = build.layer(unit).kind;
    if (!model::is_activation(kind)) throw std::logic_error("nothing writes a " + std::string(name(kind)));
    const auto append = [&build, kind](const Tensor& source, const Tensor& gradient, const Tensor& result) {
        build.list.append(Activate{kind, source, gradient, result}, "roof:" + std::string(name(kind)));
        return result;
    };
    const Tensor source = build.input(unit);
    build.write_simple(
        unit, [&](const Tensor&) { return append(source, {}, build.list.tensor(source)); },
        [=, &build](const Tensor& given) {
            const Tensor& kept = kind == model::LayerKind::relu6 ? build.output(unit.layer) : source;
            return append(kept, given, build.list.tensor(given));
        });
}

// Dropout: a hash of step, layer and position decides, forward and backward (formulas.hpp).

void dropout(Builder& build, const Unit& unit)
{
    if (build.settings.parameters == engine::Parameters::hashed) return build.pass_through(unit);
    const auto drop = [&build, probability = build.layer(unit).dropout, layer = static_cast<std::uint32_t>(unit.layer)](
                          const Tensor& from, const Tensor& to) {
        const std::size_t first = static_cast<std::size_t>(build.settings.share().rank) * from.elements();
        build.list.append(Dropout{from, to, layer, probability, static_cast<std::uint32_t>(first)}, "roof:dropout");
        return to;
    };
    build.write_simple(
        unit, [&](const Tensor& source) { return drop(source, build.list.tensor(source)); },
        [=, &build](const Tensor& given) { return drop(given, build.list.tensor(given)); });
}

}  // namespace roof::ir
