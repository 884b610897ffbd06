// The product of two maps, or of a map and one factor per channel and image (squeeze and excitation):
//   y[n,c,p] = x[n,c,p] * f[n,c,p or 0];  dx = dy * f;  df = dy * x, summed over the positions where f has one
// A row is the positions of one channel, or of the block of channels that the layout keeps together.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/layers/layers.hpp"

#include <array>

namespace roof::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

struct Product {
    Dim rows = 1, positions = 1;
    int lanes = 1;  ///< channels in a row
    bool one_factor = false;
};

struct Operands {
    Elements y, x, f;     ///< forward; backward y is the result's gradient
    Elements to_x, to_f;  ///< backward
};

template <class Element, int lanes>
[[gnu::always_inline]] inline void scale(const Operands& of, Dim row, Dim positions)
{
    const Element* const f = of.f.as<Element>() + row * lanes;
    const Element* const x = of.x.as<Element>() + row * positions * lanes;
    Element* const y = of.y.as<Element>() + row * positions * lanes;
    for (Dim p = 0; p < positions; ++p) {
#pragma omp simd
        for (int lane = 0; lane < lanes; ++lane)
            narrow(widen(x[p * lanes + lane]) * widen(f[lane]), y[p * lanes + lane]);
    }
}

template <class Element, int lanes>
[[gnu::always_inline]] inline void scale_back(const Operands& of, Dim row, Dim positions)
{
    const Element* const f = of.f.as<Element>() + row * lanes;
    const Element* const x = of.x.as<Element>() + row * positions * lanes;
    const Element* const dy = of.y.as<Element>() + row * positions * lanes;
    Element* const to_x = of.to_x.as<Element>() + row * positions * lanes;
    constexpr int vector = 16;  // lanes of a sum; a plain row is cut into pieces of that many positions
    alignas(64) std::array<float, vector> sums{};
    const Dim count = positions * lanes;
    const Dim whole = count / vector * vector;
    for (Dim i = 0; i < whole; i += vector) {
#pragma omp simd
        for (int lane = 0; lane < vector; ++lane) {
            const float given = widen(dy[i + lane]);
            sums[static_cast<std::size_t>(lane)] += given * widen(x[i + lane]);
            narrow(given * widen(f[lane % lanes]), to_x[i + lane]);
        }
    }
    for (Dim i = whole; i < count; ++i) {
        const float given = widen(dy[i]);
        sums[static_cast<std::size_t>(i % lanes)] += given * widen(x[i]);
        narrow(given * widen(f[i % lanes]), to_x[i]);
    }
    for (int lane = lanes; lane < vector; ++lane)
        sums[static_cast<std::size_t>(lane % lanes)] += sums[static_cast<std::size_t>(lane)];
    Element* const to_f = of.to_f.as<Element>() + row * lanes;
    for (int lane = 0; lane < lanes; ++lane) narrow(sums[static_cast<std::size_t>(lane)], to_f[lane]);
}

template <class Element>
[[gnu::always_inline]] inline void multiply_row(const Operands& of, Dim row, Dim count)
{
    const Element* const f = of.f.as<Element>() + row * count;
    const Element* const x = of.x.as<Element>() + row * count;
    Element* const y = of.y.as<Element>() + row * count;
    if (of.to_x.at == nullptr) {
#pragma omp simd
        for (Dim i = 0; i < count; ++i) narrow(widen(x[i]) * widen(f[i]), y[i]);
        return;
    }
    Element* const to_x = of.to_x.as<Element>() + row * count;
    Element* const to_f = of.to_f.as<Element>() + row * count;
#pragma omp simd
    for (Dim i = 0; i < count; ++i) {
        const float given = widen(y[i]);
        const float by = widen(f[i]);
        narrow(given * widen(x[i]), to_f[i]);
        narrow(given * by, to_x[i]);
    }
}

template <class Element, int lanes>
[[gnu::always_inline]] inline void row_of(const Product& product, const Operands& of, Dim row)
{
    if (!product.one_factor) return multiply_row<Element>(of, row, product.positions * lanes);
    of.to_x.at == nullptr ? scale<Element, lanes>(of, row, product.positions)
                          : scale_back<Element, lanes>(of, row, product.positions);
}

template <class Element>
[[gnu::always_inline]] inline void row_in(const Product& product, const Operands& of, Dim row)
{
    if (product.lanes == 16) return row_of<Element, 16>(product, of, row);
    if (product.lanes == 8) return row_of<Element, 8>(product, of, row);
    row_of<Element, 1>(product, of, row);
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void run_row(const Product& product, const Operands& of,
                                                                         Dim row)
{
    if (of.x.precision == Precision::bf16)
        row_in<BFloat16>(product, of, row);
    else
        row_in<float>(product, of, row);
}

void run(const Product& product, const Operands& of)
{
#pragma omp parallel for schedule(static)
    for (Dim row = 0; row < product.rows; ++row) run_row(product, of, row);
}

struct Layout {
    Tag tag;
    int lanes;
};

/// The layout of the map, if its rows are contiguous in it; otherwise that of the widest rows.
Layout layout_of(const Desc& desc, Precision precision)
{
    constexpr std::array<Layout, 3> known{{{Tag::nChw16c, 16}, {Tag::nChw8c, 8}, {Tag::nchw, 1}}};
    for (const Layout& layout : known) {
        if (desc == in_format(dims_of(desc), layout.tag, precision)) return layout;
    }
    return known.front();
}

}  // namespace

void multiply(Builder& build, const Unit& unit)
{
    const Precision precision = build.settings.precision;
    const std::vector<int> inputs = build.layer(unit).inputs;
    const Dims map = build.map(inputs[0]);
    const Dims factors = build.map(inputs[1]);
    const Layout layout = layout_of(build.input(unit).desc(), precision);
    const Product product{.rows = map[0] * ((map[1] + layout.lanes - 1) / layout.lanes),
                          .positions = map[2] * map[3],
                          .lanes = layout.lanes,
                          .one_factor = factors != map};
    begin_with_work(build, unit, Phase::forward);
    const Tensor x = build.program.in_layout(build.input(unit), in_format(map, layout.tag, precision));
    const Tensor f = build.program.in_layout(build.outputs[static_cast<std::size_t>(inputs[1])],
                                             in_format(factors, layout.tag, precision));
    const Tensor y = build.program.tensor(x.desc());
    build.program.append(
        [=] {
            run(product, {y.elements(), x.elements(), f.elements(), {}, {}});
        },
        {x, f, y}, "roof:multiply");
    build.put(unit, y);
    build.tape.emplace_back([=, &build] {
        begin_with_work(build, unit, Phase::backward);
        const Gradient given = build.gradient(unit.layer);
        const Tensor dy = given.tensor;
        const Tensor to_x = build.over(given);
        const Tensor to_f = build.program.tensor(f.desc());
        build.program.append(
            [=] {
                run(product, {dy.elements(), x.elements(), f.elements(), to_x.elements(), to_f.elements()});
            },
            {dy, x, f, to_x, to_f}, "roof:multiply");
        build.give(inputs[0], {to_x});
        build.give(inputs[1], {to_f});
    });
}

}  // namespace roof::onednn
