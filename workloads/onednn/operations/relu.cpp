// Sums of two maps and ReLUs that no other operation computes:  y = max(a + b, 0);  dx = da + db where y > 0, else 0.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/binding.hpp"

namespace roof::onednn {
namespace {

/// Without `right` there is one term; without `result` no backward pass.
struct ReluOperands {
    Elements y, left, right, result;
};

template <class Element, bool has_right, ReluPass relu>
[[gnu::always_inline]] inline void loop(const ReluOperands& of, std::size_t begin, std::size_t end)
{
    Element* const y = of.y.as<Element>();
    const Element* const left = of.left.as<Element>();
    const Element* const right = of.right.as<Element>();
    const Element* const result = of.result.as<Element>();
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) {
        float sum = widen(left[i]);
        if constexpr (has_right) sum += widen(right[i]);
        if constexpr (relu == ReluPass::forward) sum = sum > 0 ? sum : 0;
        if constexpr (relu == ReluPass::backward) sum = widen(result[i]) > 0 ? sum : 0;
        narrow(sum, y[i]);
    }
}

template <class Element, bool has_right>
[[gnu::always_inline]] inline void loops(const ReluOperands& of, ReluPass relu, std::size_t begin, std::size_t end)
{
    if (relu == ReluPass::none) return loop<Element, has_right, ReluPass::none>(of, begin, end);
    if (relu == ReluPass::forward) return loop<Element, has_right, ReluPass::forward>(of, begin, end);
    loop<Element, has_right, ReluPass::backward>(of, begin, end);
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void sum(const ReluOperands& of, ReluPass relu,
                                                                               std::size_t begin, std::size_t end)
{
    const bool two = of.right.at != nullptr;
    if (of.y.precision == Precision::bf16)
        two ? loops<BFloat16, true>(of, relu, begin, end) : loops<BFloat16, false>(of, relu, begin, end);
    else
        two ? loops<float, true>(of, relu, begin, end) : loops<float, false>(of, relu, begin, end);
}

}  // namespace

void append_sum(Program& program, const Tensor& y, const Tensor& left, const Tensor& right, ReluPass relu,
                const Tensor& result)
{
    program.append(
        [=] {
            const ReluOperands of{y.elements(), left.elements(), right.elements(), result.elements()};
            for_ranges(y.stored(), [&](auto begin, auto end) { sum(of, relu, begin, end); });
        },
        {y, left, right, result},
        std::string("roof:") + (right ? "sum" : "") + (right && relu != ReluPass::none ? "+" : "") +
            (relu != ReluPass::none ? "relu" : ""));
}

void bind(Binding& to, const ir::MaskGradient& operation)
{
    const Tensor left = to.read(operation.share);
    const Tensor right = operation.other_share ? to.read(operation.other_share, left.desc()) : Tensor{};
    const Tensor result = operation.output ? to.read(operation.output, left.desc()) : Tensor{};
    append_sum(to.program, to.write(operation.result, left.desc()), left, right,
               operation.output ? ReluPass::backward : ReluPass::none, result);
}

}  // namespace roof::onednn
