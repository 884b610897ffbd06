// Pooling. Max:  y = the maximum of the window, whose position receives dy.  Average: the mean of the window.
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {

void max_pool(Builder& build, const Unit& unit)
{
    const Tensor source = build.input(unit);
    const model::Window window = build.layer(unit).window;
    Tensor winners = build.map(unit.layer);
    winners.precision = Precision::int8;
    winners = build.program.tensor(winners);
    const int from = build.source(unit);
    const Output read = build.output(from);
    build.begin_with_work(unit, Phase::forward);
    const Tensor result = build.program.tensor(build.map(unit.layer));
    const Tensor none;
    const Tensor scale = read.scaled ? read.channels.scale : none;
    const Tensor shift = read.scaled ? read.channels.shift : none;
    build.program.append(MaxPool{source, result, winners, window, scale, shift}, "roof:max_pool");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        if (read.scaled) {
            // The batch norm finds it as it reads it, twice: still less than to write it.
            build.output(from).pool = {unit.layer, winners};
            for (const Builder::Share& share : build.shares(unit.layer, build.graph.layers().size()))
                build.give(from, share);
            return;
        }
        build.begin_with_work(unit, Phase::backward);
        const Builder::Share given = build.gradient(unit.layer);
        const Tensor gradient = build.program.tensor(source);
        build.program.append(MaxPoolGradient{gradient, given.tensor, winners, window}, "roof:max_pool");
        build.give(from, {gradient});
    });
}

void average_pool(Builder& build, const Unit& unit)
{
    if (build.layer(unit).window.size == 1) return build.pass_through(unit);
    const Tensor source = build.input(unit);
    const model::Window window = build.layer(unit).window;
    const auto forward = [&](const Tensor&) {
        const Tensor result = build.program.tensor(build.map(unit.layer));
        build.program.append(AveragePool{source, result, window}, "roof:average_pool");
        return result;
    };
    build.write_simple(unit, forward, [=, &build](const Builder::Share& given) {
        const Tensor gradient = build.program.tensor(source);
        build.program.append(AveragePoolGradient{gradient, given.tensor, window}, "roof:average_pool");
        return gradient;
    });
}

}  // namespace roof::ir
