// Pooling. Max:  y = the maximum of the window, whose position receives dy.  Average: the mean of the window.
// Resize: y = the mean of four neighbours, weighted by their distance.
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {

void max_pool(Builder& build, const Unit& unit)
{
    const model::Window window = build.layer(unit).window;
    Tensor winners = build.map(unit.layer);
    winners.precision = Precision::int8;
    winners = build.list.tensor(winners);
    const auto forward = [&](const Tensor& source) {
        const Tensor result = build.list.tensor(build.map(unit.layer));
        build.list.append(MaxPool{.source = source, .result = result, .winners = winners, .window = window},
                          "roof:max_pool");
        return result;
    };
    build.write_simple(unit, forward, [=, &build, source = build.input(unit)](const Tensor& given) {
        const Tensor gradient = build.list.tensor(source);
        build.list.append(MaxPoolGradient{gradient, given, winners, window}, "roof:max_pool");
        return gradient;
    });
}

void average_pool(Builder& build, const Unit& unit)
{
    if (build.layer(unit).window.size == 1) return build.pass_through(unit);
    const Tensor source = build.input(unit);
    const model::Window window = build.layer(unit).window;
    const auto forward = [&](const Tensor&) {
        const Tensor result = build.list.tensor(build.map(unit.layer));
        build.list.append(AveragePool{source, result, window}, "roof:average_pool");
        return result;
    };
    build.write_simple(unit, forward, [=, &build](const Tensor& given) {
        const Tensor gradient = build.list.tensor(source);
        build.list.append(AveragePoolGradient{gradient, given, window}, "roof:average_pool");
        return gradient;
    });
}

void resize(Builder& build, const Unit& unit)
{
    const auto forward = [&](const Tensor& source) {
        const Tensor result = build.list.tensor(build.map(unit.layer));
        build.list.append(Resize{source, result}, "roof:resize");
        return result;
    };
    build.write_simple(unit, forward, [=, &build, source = build.input(unit)](const Tensor& given) {
        const Tensor gradient = build.list.tensor(source);
        build.list.append(ResizeGradient{gradient, given}, "roof:resize");
        return gradient;
    });
}

}  // namespace roof::ir
