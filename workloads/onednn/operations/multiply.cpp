// The product of two maps, or of a map and one factor per channel and image (squeeze and excitation):
//   y[n,c,p] = x[n,c,p] * f[n,c,p or 0];  dx = dy * f;  df = dy * x, summed over the positions where f has one
// A row is the positions of one channel, or of the block of channels that the layout keeps together.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/binding.hpp"

#include <array>

namespace roof::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

struct Product {
    Dim rows = 1, positions = 1;
    int lanes = 1;  ///< channels in a row
    bool one_factor = false;
};

struct ProductOperands {
    Elements y, x, f;     ///< forward; backward y is the result's gradient
    Elements to_x, to_f;  ///< backward
};

template <class Element, int lanes>
[[gnu::always_inline]] inline void scale(const ProductOperands& of, Dim row, Dim positions)
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
[[gnu::always_inline]] inline void scale_back(const ProductOperands& of, Dim row, Dim positions)
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
[[gnu::always_inline]] inline void multiply_row(const ProductOperands& of, Dim row, Dim count)
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
[[gnu::always_inline]] inline void row_of(const Product& product, const ProductOperands& of, Dim row)
{
    if (!product.one_factor) return multiply_row<Element>(of, row, product.positions * lanes);
    of.to_x.at == nullptr ? scale<Element, lanes>(of, row, product.positions)
                          : scale_back<Element, lanes>(of, row, product.positions);
}

template <class Element>
[[gnu::always_inline]] inline void row_in(const Product& product, const ProductOperands& of, Dim row)
{
    if (product.lanes == 16) return row_of<Element, 16>(product, of, row);
    if (product.lanes == 8) return row_of<Element, 8>(product, of, row);
    row_of<Element, 1>(product, of, row);
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void run_row(const Product& product,
                                                                                   const ProductOperands& of, Dim row)
{
    if (of.x.precision == Precision::bf16)
        row_in<BFloat16>(product, of, row);
    else
        row_in<float>(product, of, row);
}

void run(const Product& product, const ProductOperands& of)
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
    for (const Layout& layout : known)
        if (desc == in_format(dims_of(desc), layout.tag, precision)) return layout;
    return known.front();
}

/// A product with its map and factor in one layout.
struct Placed {
    Product product;
    Tensor x, f;
};

Placed placed(Binding& to, const ir::Tensor& source, const ir::Tensor& factor)
{
    const Dims map = dims_of(source);
    const Layout layout = layout_of(to.read(source).desc(), source.precision);
    return {.product = {.rows = map[0] * ((map[1] + layout.lanes - 1) / layout.lanes),
                        .positions = map[2] * map[3],
                        .lanes = layout.lanes,
                        .one_factor = dims_of(factor) != map},
            .x = to.read(source, in_format(map, layout.tag, source.precision)),
            .f = to.read(factor, in_format(dims_of(factor), layout.tag, factor.precision))};
}

}  // namespace

void bind(Binding& to, const ir::Scale& operation)
{
    const auto [product, x, f] = placed(to, operation.source, operation.factor);
    const Tensor y = to.write(operation.result, x.desc());
    to.program.append(
        [product = product, x = x, f = f, y] {
            run(product, {y.elements(), x.elements(), f.elements(), {}, {}});
        },
        {x, f, y}, "roof:multiply");
}

void bind(Binding& to, const ir::ScaleGradient& operation)
{
    const auto [product, x, f] = placed(to, operation.source, operation.factor);
    const Tensor dy = to.read(operation.gradient, x.desc());
    const Tensor to_x = to.write(operation.to_source, x.desc());
    const Tensor to_f = to.write(operation.to_factor, f.desc());
    to.program.append(
        [product = product, x = x, f = f, dy, to_x, to_f] {
            run(product, {dy.elements(), x.elements(), f.elements(), to_x.elements(), to_f.elements()});
        },
        {dy, x, f, to_x, to_f}, "roof:multiply");
}

}  // namespace roof::onednn
