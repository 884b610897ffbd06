// Activations with an exponential or with limits, y = f(x); dx = dy f'(x). Each keeps its input and computes f'(x) from it.
#include "workloads/engine/activations.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

using model::LayerKind;

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
        for (std::size_t i = begin; i < end; ++i) narrow(engine::activated<kind>(widen(x[i])), y[i]);
    } else {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i)
            narrow(widen(given[i]) * engine::activation_slope<kind>(widen(x[i])), y[i]);
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
