// Activations with an exponential or with limits, y = f(x); dx = dy f'(x).
#include "workloads/engine/activations.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/binding.hpp"

namespace roof::onednn {
namespace {

using model::LayerKind;

/// y = f(x), or with `given` y = given f'(x). y may be given.
struct Activated {
    Elements y, x, given;
};

template <LayerKind kind, class Element>
[[gnu::always_inline]] inline void loop(const Activated& of, std::size_t begin, std::size_t end)
{
    Element* const y = of.y.as<Element>();
    const Element* const x = of.x.as<Element>();
    const Element* const given = of.given.as<Element>();
    if (given == nullptr) {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) narrow(engine::activated<kind>(widen(x[i])), y[i]);
        return;
    }
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i)
        narrow(widen(given[i]) * engine::activation_slope<kind>(widen(x[i])), y[i]);
}

template <class Element>
[[gnu::always_inline]] inline void loops(LayerKind kind, const Activated& of, std::size_t begin, std::size_t end)
{
    engine::with_activation(
        kind, [&]<LayerKind one>() __attribute__((always_inline)) { loop<one, Element>(of, begin, end); });
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void run(LayerKind kind, const Activated& of,
                                                                               std::size_t begin, std::size_t end)
{
    if (of.y.precision == Precision::bf16)
        loops<BFloat16>(kind, of, begin, end);
    else
        loops<float>(kind, of, begin, end);
}

}  // namespace

void bind(Binding& to, const ir::Activate& operation)
{
    // A layout with padding, whose values are zero, has to stay so.
    bool keeps_zero = false;
    engine::with_activation(operation.kind, [&]<LayerKind one>() { keeps_zero = engine::activated<one>(0) == 0; });
    const Tensor x = keeps_zero ? to.read(operation.source) : to.read(operation.source, plain(operation.source));
    const Tensor given = operation.gradient ? to.read(operation.gradient, x.desc()) : Tensor{};
    const Tensor y = to.write(operation.result, x.desc());
    to.program.append(
        [=, kind = operation.kind] {
            const Activated of{y.elements(), x.elements(), given.elements()};
            for_ranges(y.stored(), [&](auto begin, auto end) { run(kind, of, begin, end); });
        },
        {x, y, given}, "roof:" + std::string(name(operation.kind)));
}

}  // namespace roof::onednn
