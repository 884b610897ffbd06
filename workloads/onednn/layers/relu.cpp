// ReLU:  y = max(x, 0);  dx = dy where y > 0, else 0. ReLU6 is also clipped at 6. It needs only its output, so it works in place.
// Most ReLUs are computed by the layer before them. This file has their backward pass and the ReLUs that are not fused.
// Two gradients, as at the end of a residual block, are summed here: dx = (da + db) where y > 0.
#include "workloads/onednn/layers/elementwise.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {

namespace {

/// Of this ReLU's result.
float most_of(const Builder& build, int layer)
{
    return build.graph.layer(layer).kind == model::LayerKind::relu6 ? 6 : std::numeric_limits<float>::infinity();
}

}  // namespace

void relu6(Builder& build, const Unit& unit)
{
    relu(build, unit);
}

void relu(Builder& build, const Unit& unit)
{
    const Tensor x = build.input(unit);
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    const Tensor y = build.program.tensor(x.desc());
    append_sum(build.program, y, {x}, ReluPass::forward, {}, most_of(build, unit.layer));
    build.put(unit, y);
    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        build.give(build.source(unit), gradient_before_relu(build, {.layer = unit.layer, .relu = unit.layer}));
    });
}

Gradient gradient_before_relu(Builder& build, const Unit& unit)
{
    if (!unit.fused()) return build.gradient(unit.layer);
    build.add_work(build.work(unit.relu).backward_data);

    const Tensor y = build.outputs[static_cast<std::size_t>(unit.relu)];
    const std::vector<Gradient> given = build.shares(unit.relu, 2);
    const Gradient own = given.back();
    const Tensor dx = own.shared ? build.program.tensor(y.desc()) : own.tensor;
    std::vector<Tensor> terms{own.tensor};
    if (given.size() > 1) {
        const auto count = static_cast<double>(dx.stored());
        const Bytes read{count * traits(dx.precision()).storage_bytes};
        build.program.add_work({.flops = {count}, .compulsory = read, .no_reuse = read, .read = read});
        terms.push_back(given.front().tensor);
    }
    append_sum(build.program, dx, terms, ReluPass::backward, y, most_of(build, unit.relu));
    return {dx};
}

}  // namespace roof::onednn
