// ReLU:  y = max(x, 0);  dx = dy where y > 0, else 0. ReLU6 is also clipped at 6. It needs only its output, so it works in place.
// Most ReLUs are computed by the layer before them. This file has their backward pass and the ReLUs that are not fused.
// Two gradients, as at the end of a residual block, are summed here: dx = (da + db) where y > 0.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

/// Without `right` there is one term; without `result` no backward pass.
struct Operands {
    Elements y, left, right, result;
    float most;  ///< of the ReLU
};

template <class Element, bool has_right, ReluPass relu>
[[gnu::always_inline]] inline void loop(const Operands& of, std::size_t begin, std::size_t end)
{
    Element* const y = of.y.as<Element>();
    const Element* const left = of.left.as<Element>();
    const Element* const right = of.right.as<Element>();
    const Element* const result = of.result.as<Element>();
    const float most = of.most;
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) {
        float sum = widen(left[i]);
        if constexpr (has_right) sum += widen(right[i]);
        if constexpr (relu == ReluPass::forward) sum = sum > 0 ? (sum < most ? sum : most) : 0;
        if constexpr (relu == ReluPass::backward) sum = widen(result[i]) > 0 && widen(result[i]) < most ? sum : 0;
        narrow(sum, y[i]);
    }
}

template <class Element, bool has_right>
[[gnu::always_inline]] inline void loops(const Operands& of, ReluPass relu, std::size_t begin, std::size_t end)
{
    if (relu == ReluPass::none) return loop<Element, has_right, ReluPass::none>(of, begin, end);
    if (relu == ReluPass::forward) return loop<Element, has_right, ReluPass::forward>(of, begin, end);
    loop<Element, has_right, ReluPass::backward>(of, begin, end);
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void sum(const Operands& of, ReluPass relu,
                                                                     std::size_t begin, std::size_t end)
{
    const bool two = of.right.at != nullptr;
    if (of.y.precision == Precision::bf16)
        two ? loops<BFloat16, true>(of, relu, begin, end) : loops<BFloat16, false>(of, relu, begin, end);
    else
        two ? loops<float, true>(of, relu, begin, end) : loops<float, false>(of, relu, begin, end);
}

/// Of this ReLU's result.
float most_of(const Builder& build, int layer)
{
    return build.graph.layer(layer).kind == model::LayerKind::relu6 ? 6 : std::numeric_limits<float>::infinity();
}

}  // namespace

void append_sum(Program& program, const Tensor& y, const Tensor& left, const Tensor& right, ReluPass relu,
                const Tensor& result, float most)
{
    program.append(
        [=] {
            const Operands of{y.elements(), left.elements(), right.elements(), result.elements(), most};
            for_ranges(y.stored(), [&](auto begin, auto end) { sum(of, relu, begin, end); });
        },
        {y, left, right, result},
        std::string("roof:") + (right ? "sum" : "") + (right && relu != ReluPass::none ? "+" : "") +
            (relu != ReluPass::none ? "relu" : ""));
}

void relu6(Builder& build, const Unit& unit)
{
    relu(build, unit);
}

void relu(Builder& build, const Unit& unit)
{
    const Tensor x = build.input(unit);
    begin_with_work(build, unit, Phase::forward);
    const Tensor y = build.program.tensor(x.desc());
    append_sum(build.program, y, x, {}, ReluPass::forward, {}, most_of(build, unit.layer));
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
    Tensor other;
    if (given.size() > 1) {
        const auto count = static_cast<double>(dx.stored());
        const Bytes read{count * traits(dx.precision()).storage_bytes};
        build.program.add_work({.flops = {count}, .compulsory = read, .no_reuse = read, .read = read});
        other = given.front().tensor;
    }
    append_sum(build.program, dx, own.tensor, other, ReluPass::backward, y, most_of(build, unit.relu));
    return {dx};
}

}  // namespace roof::onednn
