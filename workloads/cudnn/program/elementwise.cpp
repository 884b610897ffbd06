// Layers without weights: ReLU, pooling, dropout, and layers that change nothing.
#include "workloads/cudnn/program/layers.hpp"

namespace roof::cudnn {

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
    const Tensor sum = build.parameters.of(unit.layer, true).gradient;
    const Tensor partial = build.partial_sums(first);
    const ReduceGradient reduction{.share = first,
                                   .other_share = other,
                                   .output = mask,
                                   .source = {},
                                   .channels = {},
                                   .result = changes ? gradient : Tensor{},
                                   .sum = sum,
                                   .sum_of_products = {},
                                   .partial = partial};
    build.program.append(reduction, {first, other, mask, reduction.result, sum, partial},
                         unit.fused() ? "roof:relu+bias_gradient" : "roof:bias_gradient");
    build.completed(unit.layer, true);
    return gradient;
}

void relu(Builder& build, const Unit& unit)
{
    const Tensor source = build.input(unit);
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    const Tensor result = build.program.tensor(source);
    build.program.append(Relu{source, result}, {source, result}, "roof:relu");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        build.add_work(build.work(unit.layer).backward_data);
        const Builder::Share given = build.shares(unit.layer, 1).front();
        const Tensor gradient = build.over({given});
        build.program.append(MaskGradient{given.tensor, {}, result, gradient}, {given.tensor, result, gradient},
                             "roof:relu");
        build.give(build.source(unit), {gradient});
    });
}

void max_pool(Builder& build, const Unit& unit)
{
    const Tensor source = build.input(unit);
    const model::Window window = build.layer(unit).window;
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    const Tensor result = build.program.tensor(build.map(unit.layer));
    Tensor winners = result;
    winners.precision = Precision::int8;
    winners = build.program.tensor(winners);
    build.program.append(MaxPool{source, result, winners, window}, {source, result, winners}, "roof:max_pool");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        build.add_work(build.work(unit.layer).backward_data);
        const Tensor given = build.shares(unit.layer, 1).front().tensor;
        const Tensor gradient = build.program.tensor(source);
        build.program.append(MaxPoolGradient{gradient, given, winners, window}, {gradient, given, winners},
                             "roof:max_pool");
        build.give(build.source(unit), {gradient});
    });
}

void average_pool(Builder& build, const Unit& unit)
{
    if (build.layer(unit).window.size == 1) return pass_through(build, unit);
    const Tensor source = build.input(unit);
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    const Tensor result = build.program.tensor(build.map(unit.layer));
    build.program.append(AveragePool{source, result}, {source, result}, "roof:average_pool");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        build.add_work(build.work(unit.layer).backward_data);
        const Tensor given = build.shares(unit.layer, 1).front().tensor;
        const Tensor gradient = build.program.tensor(source);
        build.program.append(AveragePoolGradient{gradient, given}, {gradient, given}, "roof:average_pool");
        build.give(build.source(unit), {gradient});
    });
}

void dropout(Builder& build, const Unit& unit)
{
    if (build.settings.parameters == engine::Parameters::hashed) return pass_through(build, unit);
    const Tensor source = build.input(unit);
    const float probability = build.layer(unit).dropout;
    const auto layer = static_cast<std::uint32_t>(unit.layer);
    const auto first =
        static_cast<std::uint32_t>(static_cast<std::size_t>(build.settings.share.rank) * source.elements());
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    const Tensor result = build.program.tensor(source);
    build.program.append(Dropout{source, result, layer, probability, first}, {source, result}, "roof:dropout");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        build.add_work(build.work(unit.layer).backward_data);
        const Builder::Share given = build.shares(unit.layer, 1).front();
        const Tensor gradient = build.over({given});
        build.program.append(Dropout{given.tensor, gradient, layer, probability, first}, {given.tensor, gradient},
                             "roof:dropout");
        build.give(build.source(unit), {gradient});
    });
}

void pass_through(Builder& build, const Unit& unit)
{
    build.put(unit, build.input(unit));
    build.tape.emplace_back([=, &build] {
        const Builder::Share given = build.shares(unit.layer, 1).front();
        build.give(build.source(unit), given);
    });
}

}  // namespace roof::cudnn
