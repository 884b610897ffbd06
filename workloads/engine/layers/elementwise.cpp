// Layers without weights: ReLU, pooling, dropout, and layers that change nothing.
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

void max_pool(Builder& build, const Unit& unit)
{
    const Tensor source = build.input(unit);
    const model::Window window = build.layer(unit).window;
    Tensor winners = build.map(unit.layer);
    winners.precision = Precision::int8;
    winners = build.program.tensor(winners);
    const int from = build.source(unit);
    const Output read = build.output(from);
    begin_with_work(build, unit, Phase::forward);
    const Tensor result = build.program.tensor(build.map(unit.layer));
    const Tensor none;
    const Tensor scale = read.scaled ? read.channels.scale : none;
    const Tensor shift = read.scaled ? read.channels.shift : none;
    build.program.append(MaxPool{source, result, winners, window, scale, shift},
                         {source, result, winners, scale, shift}, "roof:max_pool");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        if (read.scaled) {
            // The batch norm finds it as it reads it, twice: still less than to write it.
            build.output(from).pool = {unit.layer, winners};
            for (const Builder::Share& share : build.shares(unit.layer, build.graph.layers().size()))
                build.give(from, share);
            return;
        }
        begin_with_work(build, unit, Phase::backward);
        const Builder::Share given = build.gradient(unit.layer);
        const Tensor gradient = build.program.tensor(source);
        build.program.append(MaxPoolGradient{gradient, given.tensor, winners, window},
                             {gradient, given.tensor, winners}, "roof:max_pool");
        build.give(from, {gradient});
    });
}

void average_pool(Builder& build, const Unit& unit)
{
    if (build.layer(unit).window.size == 1) return pass_through(build, unit);
    const Tensor source = build.input(unit);
    const auto forward = [&](const Tensor&) {
        const Tensor result = build.program.tensor(build.map(unit.layer));
        build.program.append(AveragePool{source, result}, {source, result}, "roof:average_pool");
        return result;
    };
    write_simple(build, unit, forward, [=, &build](const Builder::Share& given) {
        const Tensor gradient = build.program.tensor(source);
        build.program.append(AveragePoolGradient{gradient, given.tensor}, {gradient, given.tensor},
                             "roof:average_pool");
        return Builder::Share{gradient};
    });
}

void dropout(Builder& build, const Unit& unit)
{
    if (build.settings.parameters == engine::Parameters::hashed) return pass_through(build, unit);
    const auto drop = [&build, probability = build.layer(unit).dropout, layer = static_cast<std::uint32_t>(unit.layer)](
                          const Tensor& from, const Tensor& to) {
        const std::size_t first = static_cast<std::size_t>(build.settings.share.rank) * from.elements();
        build.program.append(Dropout{from, to, layer, probability, static_cast<std::uint32_t>(first)}, {from, to},
                             "roof:dropout");
        return to;
    };
    write_simple(
        build, unit, [&](const Tensor& source) { return drop(source, build.program.tensor(source)); },
        [=, &build](const Builder::Share& given) { return Builder::Share{drop(given.tensor, build.over({given}))}; });
}

}  // namespace roof::ir
