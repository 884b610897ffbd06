// ReLU and the other activations. A ReLU goes with the layer before it where that can compute it.
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {

Tensor gradient_of_unit(Builder& build, const Unit& unit)
{
    const bool has_bias = build.layer(unit).bias;
    if (!unit.fused() && !has_bias) return build.shares(unit.layer, 1).front().tensor;
    if (unit.fused()) build.add_work(build.work(unit.relu).backward_data);
    const std::vector<Builder::Share> given = build.shares(unit.last(), 2);
    const Tensor first = given.front().tensor;
    const Tensor other = given.size() > 1 ? given[1].tensor : Tensor{};
    const Tensor mask = unit.fused() ? build.output(unit.relu).tensor : Tensor{};
    const bool changes = mask || other;
    const Tensor gradient = changes ? build.over(given) : first;
    if (!has_bias) {
        build.program.append(MaskGradient{first, other, mask, gradient}, {first, other, mask, gradient}, "roof:relu");
        return gradient;
    }
    const ReduceGradient reduction{.share = first,
                                   .other_share = other,
                                   .output = mask,
                                   .result = changes ? gradient : Tensor{},
                                   .sum = build.parameters.of(unit.layer, true).gradient,
                                   .partial = build.program.tensor(partial_sums_of(first))};
    build.program.append(reduction, {first, other, mask, reduction.result, reduction.sum, reduction.partial},
                         unit.fused() ? "roof:relu+bias_gradient" : "roof:bias_gradient");
    build.completed(unit.layer, true);
    return gradient;
}

void relu(Builder& build, const Unit& unit)
{
    const auto forward = [&](const Tensor& source) {
        const Tensor result = build.program.tensor(source);
        Normalise clip{.source = source, .result = result, .relu = true};
        build.program.append(clip, {source, result}, "roof:relu");
        return result;
    };
    write_simple(build, unit, forward, [=, &build](const Builder::Share& given) {
        const Tensor gradient = build.over({given});
        const Tensor result = build.output(unit.layer).tensor;
        build.program.append(MaskGradient{given.tensor, {}, result, gradient}, {given.tensor, result, gradient},
                             "roof:relu");
        return Builder::Share{gradient};
    });
}

void activation(Builder& build, const Unit& unit)
{
    const Tensor source = build.input(unit);
    const auto append = [&build, source, kind = build.layer(unit).kind](const Tensor& gradient, const Tensor& result) {
        build.program.append(Activate{kind, source, gradient, result}, {source, gradient, result},
                             "roof:" + std::string(model::name(kind)));
        return result;
    };
    write_simple(
        build, unit, [&](const Tensor&) { return append({}, build.program.tensor(source)); },
        [=, &build](const Builder::Share& given) { return Builder::Share{append(given.tensor, build.over({given}))}; });
}

void relu6(Builder& build, const Unit& unit)
{
    activation(build, unit);
}

}  // namespace roof::ir
