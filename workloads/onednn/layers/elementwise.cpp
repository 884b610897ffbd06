#include "workloads/onednn/layers/elementwise.hpp"

#include "workloads/kernels/parallel.hpp"

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

}  // namespace

void append_sum(Program& program, const Tensor& y, const std::vector<Tensor>& terms, ReluPass relu,
                const Tensor& result, float most)
{
    const bool two = terms.size() > 1;
    std::vector<Tensor> used{y};
    used.insert(used.end(), terms.begin(), terms.end());
    if (relu == ReluPass::backward) used.push_back(result);
    program.append(
        [=] {
            const Operands of{y.elements(), terms[0].elements(), two ? terms[1].elements() : Elements{},
                              relu == ReluPass::backward ? result.elements() : Elements{}, most};
            for_ranges(y.stored(), [&](auto begin, auto end) { sum(of, relu, begin, end); });
        },
        used,
        std::string("roof:") + (two ? "sum" : "") + (two && relu != ReluPass::none ? "+" : "") +
            (relu != ReluPass::none ? "relu" : ""));
}

}  // namespace roof::onednn
