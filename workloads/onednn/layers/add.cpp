// The residual sum and the ReLU after it:  y = max(a + b, 0). Both inputs receive the gradient of the sum; nothing is
// copied. After a batch norm the sum is computed with it (batch_norm.cpp). A tensor that two layers read sums two
// gradients, in the stage of the layer that made it.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

template <class Element>
[[gnu::always_inline]] inline void sum_of(Element* y, const Element* a, const Element* b, bool clipped,
                                          std::size_t begin, std::size_t end)
{
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) {
        const float s = widen(a[i]) + widen(b[i]);
        narrow(clipped && !(s > 0) ? 0 : s, y[i]);
    }
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void sum(const Elements& y, const Elements& a,
                                                                     const Elements& b, bool clipped, std::size_t begin,
                                                                     std::size_t end)
{
    if (y.precision == Precision::bf16)
        sum_of(y.as<BFloat16>(), a.as<BFloat16>(), b.as<BFloat16>(), clipped, begin, end);
    else
        sum_of(y.as<float>(), a.as<float>(), b.as<float>(), clipped, begin, end);
}

void append_sum(Program& program, const Tensor& y, const Tensor& left, const Tensor& right, bool clipped)
{
    program.append(
        [=] {
            for_ranges(y.stored(), [=, out = y.elements(), a = left.elements(), b = right.elements()](
                                       auto begin, auto end) { sum(out, a, b, clipped, begin, end); });
        },
        {y, left, right}, clipped ? "roof:sum+relu" : "roof:sum");
}

}  // namespace

void add(Builder& build, const Unit& unit)
{
    if (sum_of_batch_norms(build, unit)) return;
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);

    const std::vector<int>& inputs = build.layer(unit).inputs;
    const Tensor left = build.outputs[static_cast<std::size_t>(inputs[0])];
    const Tensor right = build.program.in_layout(build.outputs[static_cast<std::size_t>(inputs[1])], left.desc());
    const Tensor y = build.program.tensor(left.desc());
    append_sum(build.program, y, left, right, unit.fused());
    build.put(unit, y);

    build.tape.emplace_back([&build, unit, inputs] {
        build.begin(unit, Phase::backward);
        const Tensor given = gradient_before_relu(build, unit).tensor;
        for (const int input : inputs) build.give(input, {given, true});
    });
}

Gradient sum_gradients(Builder& build, const Gradient& left, const Gradient& right)
{
    const Tensor y = right.shared ? build.program.tensor(right.tensor.desc()) : right.tensor;
    const auto count = static_cast<double>(y.stored());
    const Bytes moved{3 * count * traits(y.precision()).storage_bytes};
    build.program.add_work({.flops = {count}, .compulsory = moved, .no_reuse = moved});
    append_sum(build.program, y, left.tensor, right.tensor, false);
    return {y};
}

}  // namespace roof::onednn
