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

}  // namespace roof::ir
