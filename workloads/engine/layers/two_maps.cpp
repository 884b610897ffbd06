// Residual sum with its ReLU:  y = max(a + b, 0). Both inputs have the gradient of the sum.
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {

void add(Builder& build, const Unit& unit)
{
    const std::vector<int> inputs = build.layer(unit).inputs;
    build.begin_with_work(unit, Phase::forward);
    const Tensor result = build.list.tensor(build.map(unit.layer));
    build.list.append(Normalise{.source = build.output(inputs[0]),
                                .other = build.output(inputs[1]),
                                .result = result,
                                .relu = unit.fused()},
                      "roof:normalise+sum");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        const Tensor gradient = gradient_of_unit(build, unit);
        for (const int input : inputs) build.give(input, gradient);
    });
}

// The product of two maps, or of a map and one factor per channel and image (squeeze and excitation):
//   y = x * f;  dx = dy * f;  df = dy * x, summed over the positions where f has one value for them

void multiply(Builder& build, const Unit& unit)
{
    const std::vector<int> inputs = build.layer(unit).inputs;
    build.begin_with_work(unit, Phase::forward);
    const Tensor source = build.output(inputs[0]);
    const Tensor factor = build.output(inputs[1]);
    const Tensor result = build.list.tensor(source);
    build.list.append(Scale{source, factor, result}, "roof:multiply");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        build.begin_with_work(unit, Phase::backward);
        const Tensor given = build.gradient(unit.layer);
        const ScaleGradient gradient{given, source, factor, build.list.tensor(given), build.list.tensor(factor)};
        build.list.append(gradient, "roof:multiply");
        build.give(inputs[0], gradient.to_source);
        build.give(inputs[1], gradient.to_factor);
    });
}

}  // namespace roof::ir
