// The weights' gradient of a direct convolution, compared with its definition in double precision: each instruction
// set, many windows, strides and paddings, work divided into pieces, regions and thread shares.
#include "tests/onednn/blocked_maps.hpp"
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/direct/loops.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace roof;
using namespace roof::kernels;

namespace {

struct Case {
    ConvolutionPass shape;
    int lanes;
    Numbers x, dy;

    std::size_t source_at(int image, int channel, int row, int column) const
    {
        return Maps{shape.source.channels, shape.source.height, shape.source.width, lanes}.at(image, channel, row,
                                                                                              column);
    }
    std::size_t result_at(int image, int channel, int row, int column) const
    {
        return Maps{shape.result.channels, shape.result.height, shape.result.width, lanes}.at(image, channel, row,
                                                                                              column);
    }
    std::size_t weight_at(int o, int i, int down, int across) const
    {
        const int block =
            (o / lanes * (shape.source.channels / lanes) + i / lanes) * shape.window.size * shape.window.size;
        const int tap = down * shape.window.size + across;
        return static_cast<std::size_t>(((block + tap) * lanes + i % lanes) * lanes + o % lanes);
    }
    std::size_t weights() const
    {
        return static_cast<std::size_t>(shape.window.size * shape.window.size * shape.source.channels *
                                        shape.result.channels);
    }
};

Case make_case(const ConvolutionPass& shape, int lanes)
{
    const auto batch = static_cast<std::size_t>(shape.batch);
    const auto source = static_cast<std::size_t>(shape.source.channels * shape.source.height * shape.source.width);
    const auto result = static_cast<std::size_t>(shape.result.channels * shape.result.height * shape.result.width);
    return {shape, lanes, rounded(random_numbers(batch * source, 1)), rounded(random_numbers(batch * result, 2))};
}

/// The definition: the gradient of one weight, for a pair of channels and a tap of the window.
double weight_gradient(const Case& c, int o, int i, int down, int across)
{
    const ConvolutionPass& shape = c.shape;
    double sum = 0;
    for (int image = 0; image < shape.batch; ++image) {
        for (int row = 0; row < shape.result.height; ++row) {
            for (int column = 0; column < shape.result.width; ++column) {
                const int from = row * shape.window.stride + down - shape.window.padding;
                const int at = column * shape.window.stride + across - shape.window.padding;
                if (from < 0 || from >= shape.source.height || at < 0 || at >= shape.source.width) continue;
                sum += static_cast<double>(c.x[c.source_at(image, i, from, at)]) *
                       static_cast<double>(c.dy[c.result_at(image, o, row, column)]);
            }
        }
    }
    return sum;
}

std::vector<double> right_weights(const Case& c)
{
    std::vector<double> right(c.weights());
    for (int o = 0; o < c.shape.result.channels; ++o)
        for (int i = 0; i < c.shape.source.channels; ++i)
            for (int tap = 0; tap < c.shape.window.size * c.shape.window.size; ++tap) {
                const int down = tap / c.shape.window.size, across = tap % c.shape.window.size;
                right[c.weight_at(o, i, down, across)] = weight_gradient(c, o, i, down, across);
            }
    return right;
}

std::vector<double> right_bias(const Case& c)
{
    std::vector<double> right(static_cast<std::size_t>(c.shape.result.channels));
    const int pixels = c.shape.result.height * c.shape.result.width;
    for (int image = 0; image < c.shape.batch; ++image)
        for (int o = 0; o < c.shape.result.channels; ++o)
            for (int pixel = 0; pixel < pixels; ++pixel)
                right[static_cast<std::size_t>(o)] +=
                    static_cast<double>(c.dy[c.result_at(image, o, 0, 0) + static_cast<std::size_t>(pixel * c.lanes)]);
    return right;
}

constexpr double tolerance = 1e-5;
const float poison = std::nanf("");

struct Gradients {
    Numbers weights, bias;
};

Gradients computed(const DirectLoops& loops, Precision precision, const Case& c, int threads, bool has_bias = true)
{
    const ConvolutionPlan plan = plan_direct_gradient(loops, {c.shape, Pass::backward_weights, precision}, threads);
    Gradients of{Numbers(c.weights(), poison), Numbers(static_cast<std::size_t>(c.shape.result.channels), poison)};
    Stored workspace(Numbers(plan.workspace, poison));
    const Stored x(c.x, precision), dy(c.dy, precision);
    plan.run({.source = x.elements,
              .weights = of.weights.data(),
              .result = dy.elements,
              .bias = has_bias ? of.bias.data() : nullptr,
              .workspace = workspace.data()});
    return of;
}

/// Calls round(loops, precision) for every instruction set and precision of maps.
template <class Round>
void for_loops(const Round& round)
{
    for (const DirectLoops* loops : direct_loops_here()) {
        for (const Precision precision : {Precision::fp32, Precision::bf16}) {
            CAPTURE(loops->name, traits(precision).name);
            if (loops->numbers == 1 || precision == Precision::bf16) round(*loops, precision);
        }
    }
}

void check(const ConvolutionPass& shape, const std::vector<int>& teams)
{
    for_loops([&](const DirectLoops& loops, Precision precision) {
        const Case c = make_case(shape, loops.lanes);
        const std::vector<double> weights = right_weights(c), bias = right_bias(c);
        for (const int threads : teams) {
            CAPTURE(shape.batch, shape.source.channels, shape.result.channels, shape.source.height, shape.source.width,
                    shape.window.size, shape.window.stride, shape.window.padding, threads);
            const Gradients found = computed(loops, precision, c, threads);
            CHECK(error(found.weights, weights) < tolerance);
            CHECK(error(found.bias, bias) < tolerance);
        }
    });
}

}  // namespace

TEST_CASE("The direct weights' gradient equals the definition for every window, stride and padding")
{
    for (const ConvolutionPass& shape : std::vector<ConvolutionPass>{
             shape_of(2, {32, 13, 13}, 32, {3, 1, 1}),
             shape_of(1, {16, 27, 27}, 32, {5, 1, 2}),
             shape_of(2, {32, 13, 14}, 16, {1, 2, 0}),
             shape_of(2, {16, 14, 13}, 64, {3, 2, 1}),
             shape_of(1, {16, 30, 22}, 16, {7, 2, 3}),
             shape_of(1, {16, 20, 23}, 16, {5, 4, 0}),
             shape_of(3, {16, 1, 1}, 16, {3, 1, 1}),
             shape_of(2, {16, 2, 3}, 16, {5, 1, 4}),
         })
        check(shape, {1, 3});
}

TEST_CASE("The direct weights' gradient is the same in pieces, regions and any number of blocks")
{
    for (const ConvolutionPass& shape : std::vector<ConvolutionPass>{
             shape_of(5, {16, 7, 7}, 16, {3, 1, 1}),    // images
             shape_of(1, {16, 5, 230}, 16, {3, 1, 1}),  // columns
             shape_of(2, {176, 9, 8}, 144, {1, 1, 0}),  // regions
             shape_of(1, {80, 5, 4}, 112, {3, 1, 1}),
         })
        check(shape, {1, 2, 7});
}

TEST_CASE("The direct weights' gradient works without bias and is bitwise reproducible for equal threads")
{
    const ConvolutionPass shape = shape_of(3, {32, 12, 12}, 48, {3, 1, 1});
    for_loops([&](const DirectLoops& loops, Precision precision) {
        const Case c = make_case(shape, loops.lanes);
        for (const int threads : {1, 5}) {
            CAPTURE(threads);
            const Gradients once = computed(loops, precision, c, threads);
            const Gradients again = computed(loops, precision, c, threads, false);
            CHECK(once.weights == again.weights);
            CHECK(std::ranges::all_of(again.bias, [](float value) { return std::isnan(value); }));
        }
    });
}
