// The residual sum and the ReLU after it:  y = max(a + b, 0). Both inputs receive the gradient of the sum; nothing is
// copied. After a batch norm the sum is computed with it (batch_norm.cpp). A tensor that two layers read sums two
// gradients, in the stage of the layer that made it.
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {

void add(Builder& build, const Unit& unit)
{
    if (sum_of_batch_norms(build, unit)) return;
    begin_with_work(build, unit, Phase::forward);

    const std::vector<int>& inputs = build.layer(unit).inputs;
    const Tensor left = build.outputs[static_cast<std::size_t>(inputs[0])];
    const Tensor right = build.program.in_layout(build.outputs[static_cast<std::size_t>(inputs[1])], left.desc());
    const Tensor y = build.program.tensor(left.desc());
    append_sum(build.program, y, left, right, unit.fused() ? ReluPass::forward : ReluPass::none);
    build.put(unit, y);

    build.tape.emplace_back([&build, unit, inputs] {
        build.begin(unit, Phase::backward);
        const Tensor given = gradient_before_relu(build, unit).tensor;
        for (const int input : inputs) build.give(input, {given, true});
    });
}

Gradient sum_gradients(Builder& build, const Gradient& left, const Gradient& right)
{
    const Tensor y = build.over(right);
    const auto count = static_cast<double>(y.stored());
    const Bytes moved{3 * count * traits(y.precision()).storage_bytes};
    build.program.add_work({.flops = {count},
                            .compulsory = moved,
                            .no_reuse = moved,
                            .read = moved * (2.0 / 3),
                            .written = moved * (1.0 / 3)});
    append_sum(build.program, y, left.tensor, right.tensor, ReluPass::none);
    return {y};
}

}  // namespace roof::onednn
