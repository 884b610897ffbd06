// Activations with an exponential or with limits, y = f(x); dx = dy f'(x). Each keeps its input and computes f'(x) from it.
//   sigmoid s(x) = 1 / (1 + e^-x)           s' = s (1 - s)
//   SiLU x s(x)                             s + x s (1 - s)
//   hard sigmoid h(x) = relu6(x + 3) / 6    1/6 where -3 < x < 3, else 0
//   hard swish x h(x)                       0 below -3, 1 above 3, else x / 3 + 1/2, as PyTorch has it
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/layers/layers.hpp"

#include <bit>
#include <cmath>

namespace roof::onednn {
namespace {

using model::LayerKind;

/// e^x to two units in the last place (Cephes' expf): 2^n e^r, |r| <= ln(2) / 2. Branchless, so that loops become vectors.
[[gnu::always_inline]] inline float exponential(float x)
{
    constexpr float most = 88, rounding = 12582912;  // 1.5 * 2^23
    x = x < most ? x : most;
    x = x > -most ? x : -most;
    const float n = (x * 1.44269504F + rounding) - rounding;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float sum = 1.9875691500e-4F * r + 1.3981999507e-3F;
    sum = sum * r + 8.3334519073e-3F;
    sum = sum * r + 4.1665795894e-2F;
    sum = sum * r + 1.6666665459e-1F;
    sum = sum * r + 5.0000001201e-1F;
    const float power = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
    return (sum * r * r + r + 1) * power;
}

[[gnu::always_inline]] inline float sigmoid_of(float x)
{
    return 1 / (1 + exponential(-x));
}

[[gnu::always_inline]] inline float hard_sigmoid_of(float x)
{
    const float sixth = x * (1.0F / 6) + 0.5F;
    return sixth > 0 ? (sixth < 1 ? sixth : 1) : 0;
}

template <LayerKind kind>
[[gnu::always_inline]] inline float value(float x)
{
    if constexpr (kind == LayerKind::sigmoid) return sigmoid_of(x);
    if constexpr (kind == LayerKind::silu) return x * sigmoid_of(x);
    if constexpr (kind == LayerKind::hard_sigmoid) return hard_sigmoid_of(x);
    return x * hard_sigmoid_of(x);
}

template <LayerKind kind>
[[gnu::always_inline]] inline float slope(float x)
{
    if constexpr (kind == LayerKind::sigmoid || kind == LayerKind::silu) {
        const float s = sigmoid_of(x);
        return kind == LayerKind::sigmoid ? s * (1 - s) : s * (1 + x * (1 - s));
    }
    const bool inside = x > -3 && x < 3;
    if constexpr (kind == LayerKind::hard_sigmoid) return inside ? 1.0F / 6 : 0;
    return inside ? x * (1.0F / 3) + 0.5F : (x > 0 ? 1.0F : 0.0F);
}

/// y = f(x), or with `given` y = given f'(x). y may be given.
struct Operands {
    Elements y, x, given;
};

template <LayerKind kind, class Element>
[[gnu::always_inline]] inline void loop(const Operands& of, std::size_t begin, std::size_t end)
{
    Element* const y = of.y.as<Element>();
    const Element* const x = of.x.as<Element>();
    const Element* const given = of.given.as<Element>();
    if (given == nullptr) {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) narrow(value<kind>(widen(x[i])), y[i]);
    } else {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) narrow(widen(given[i]) * slope<kind>(widen(x[i])), y[i]);
    }
}

template <class Element>
[[gnu::always_inline]] inline void loops(LayerKind kind, const Operands& of, std::size_t begin, std::size_t end)
{
    if (kind == LayerKind::sigmoid) return loop<LayerKind::sigmoid, Element>(of, begin, end);
    if (kind == LayerKind::silu) return loop<LayerKind::silu, Element>(of, begin, end);
    if (kind == LayerKind::hard_sigmoid) return loop<LayerKind::hard_sigmoid, Element>(of, begin, end);
    loop<LayerKind::hard_swish, Element>(of, begin, end);
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void run(LayerKind kind, const Operands& of,
                                                                     std::size_t begin, std::size_t end)
{
    if (of.y.precision == Precision::bf16)
        loops<BFloat16>(kind, of, begin, end);
    else
        loops<float>(kind, of, begin, end);
}

void append(Program& program, LayerKind kind, const Tensor& y, const Tensor& x, const Tensor& given)
{
    program.append(
        [=] {
            const Operands of{y.elements(), x.elements(), given.elements()};
            for_ranges(y.stored(), [&](auto begin, auto end) { run(kind, of, begin, end); });
        },
        {x, y, given}, "roof:" + std::string(model::name(kind)));
}

}  // namespace

void activation(Builder& build, const Unit& unit)
{
    const LayerKind kind = build.layer(unit).kind;
    begin_with_work(build, unit, Phase::forward);
    // f(0) is not 0 for these two: a layout with padding, whose values are zero, would not stay so.
    const bool keeps_zero = kind == LayerKind::silu || kind == LayerKind::hard_swish;
    const Tensor given = build.input(unit);
    const Tensor x =
        keeps_zero ? given : build.program.in_layout(given, plain(dims_of(given.desc()), build.settings.precision));
    const Tensor y = build.program.tensor(x.desc());
    append(build.program, kind, y, x, {});
    build.put(unit, y);
    build.tape.emplace_back([=, &build] {
        begin_with_work(build, unit, Phase::backward);
        const Gradient received = build.gradient(unit.layer);
        const Tensor dx = build.over(received);
        append(build.program, kind, dx, x, received.tensor);
        build.give(build.source(unit), {dx});
    });
}

}  // namespace roof::onednn
