// ReLU:  y = max(x, 0);  dx = dy where y > 0, else 0. It needs only its output, so it works in place.
// Most ReLUs are computed by the layer before them. This file has their backward pass and the ReLUs that are not fused.
// Two gradients, as at the end of a residual block, are summed here: dx = (da + db) where y > 0.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

template <class Element>
[[gnu::always_inline]] inline void clip_all(Element* y, const Element* x, std::size_t begin, std::size_t end)
{
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) narrow(widen(x[i]) > 0 ? widen(x[i]) : 0, y[i]);
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void clip(const Elements& y, const Elements& x,
                                                                      std::size_t begin, std::size_t end)
{
    if (y.precision == Precision::bf16)
        clip_all(y.as<BFloat16>(), x.as<BFloat16>(), begin, end);
    else
        clip_all(y.as<float>(), x.as<float>(), begin, end);
}

template <class Element>
[[gnu::always_inline]] inline void mask_all(Element* dx, const Element* dy, const Element* y, std::size_t begin,
                                            std::size_t end)
{
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) narrow(widen(y[i]) > 0 ? widen(dy[i]) : 0, dx[i]);
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void mask(const Elements& dx, const Elements& dy,
                                                                      const Elements& y, std::size_t begin,
                                                                      std::size_t end)
{
    if (dx.precision == Precision::bf16)
        mask_all(dx.as<BFloat16>(), dy.as<BFloat16>(), y.as<BFloat16>(), begin, end);
    else
        mask_all(dx.as<float>(), dy.as<float>(), y.as<float>(), begin, end);
}

template <class Element>
[[gnu::always_inline]] inline void mask_sum_all(Element* dx, const Element* da, const Element* db, const Element* y,
                                                std::size_t begin, std::size_t end)
{
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) narrow(widen(y[i]) > 0 ? widen(da[i]) + widen(db[i]) : 0, dx[i]);
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void mask_sum(const Elements& dx, const Elements& da,
                                                                          const Elements& db, const Elements& y,
                                                                          std::size_t begin, std::size_t end)
{
    if (dx.precision == Precision::bf16)
        mask_sum_all(dx.as<BFloat16>(), da.as<BFloat16>(), db.as<BFloat16>(), y.as<BFloat16>(), begin, end);
    else
        mask_sum_all(dx.as<float>(), da.as<float>(), db.as<float>(), y.as<float>(), begin, end);
}

}  // namespace

void relu(Builder& build, const Unit& unit)
{
    const Tensor x = build.input(unit);
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    const Tensor y = build.program.tensor(x.desc());
    build.program.append(
        [=] {
            for_ranges(y.stored(),
                       [=, to = y.elements(), from = x.elements()](auto b, auto e) { clip(to, from, b, e); });
        },
        {x, y}, "roof:relu");
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
    if (given.size() == 1) {
        build.program.append(
            [=] {
                for_ranges(dx.stored(), [to = dx.elements(), from = own.tensor.elements(), out = y.elements()](
                                            auto b, auto e) { mask(to, from, out, b, e); });
            },
            {dx, own.tensor, y}, "roof:relu");
    } else {
        const auto count = static_cast<double>(dx.stored());
        const Bytes read{count * traits(dx.precision()).storage_bytes};
        build.program.add_work({.flops = {count}, .compulsory = read, .no_reuse = read});
        build.program.append(
            [=, other = given.front().tensor] {
                for_ranges(dx.stored(), [to = dx.elements(), a = own.tensor.elements(), c = other.elements(),
                                         out = y.elements()](auto b, auto e) { mask_sum(to, a, c, out, b, e); });
            },
            {dx, own.tensor, given.front().tensor, y}, "roof:sum+relu");
    }
    return {dx};
}

}  // namespace roof::onednn
