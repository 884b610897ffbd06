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
    ConvolutionShape shape;
    int lanes;
    Numbers x, dy;

    std::size_t source_at(int image, int channel, int row, int column) const
    {
        return Maps{shape.inputs, shape.height, shape.width, lanes}.at(image, channel, row, column);
    }
    std::size_t result_at(int image, int channel, int row, int column) const
    {
        return Maps{shape.outputs, shape.result_height(), shape.result_width(), lanes}.at(image, channel, row, column);
    }
    std::size_t weight_at(int o, int i, int down, int across) const
    {
        const int block = (o / lanes * (shape.inputs / lanes) + i / lanes) * shape.window * shape.window;
        const int tap = down * shape.window + across;
        return static_cast<std::size_t>(((block + tap) * lanes + i % lanes) * lanes + o % lanes);
    }
    std::size_t weights() const
    {
        return static_cast<std::size_t>(shape.window * shape.window * shape.inputs * shape.outputs);
    }
};

Case make_case(const ConvolutionShape& shape, int lanes)
{
    const auto batch = static_cast<std::size_t>(shape.batch);
    const auto source = static_cast<std::size_t>(shape.inputs * shape.height * shape.width);
    const auto result = static_cast<std::size_t>(shape.outputs * shape.result_height() * shape.result_width());
    return {shape, lanes, rounded(random_numbers(batch * source, 1)), rounded(random_numbers(batch * result, 2))};
}

/// The definition: the gradient of one weight, for a pair of channels and a tap of the window.
double weight_gradient(const Case& c, int o, int i, int down, int across)
{
    const ConvolutionShape& shape = c.shape;
    double sum = 0;
    for (int image = 0; image < shape.batch; ++image) {
        for (int row = 0; row < shape.result_height(); ++row) {
            for (int column = 0; column < shape.result_width(); ++column) {
                const int from = row * shape.stride + down - shape.padding;
                const int at = column * shape.stride + across - shape.padding;
                if (from < 0 || from >= shape.height || at < 0 || at >= shape.width) continue;
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
    for (int o = 0; o < c.shape.outputs; ++o)
        for (int i = 0; i < c.shape.inputs; ++i)
            for (int tap = 0; tap < c.shape.window * c.shape.window; ++tap) {
                const int down = tap / c.shape.window, across = tap % c.shape.window;
                right[c.weight_at(o, i, down, across)] = weight_gradient(c, o, i, down, across);
            }
    return right;
}

std::vector<double> right_bias(const Case& c)
{
    std::vector<double> right(static_cast<std::size_t>(c.shape.outputs));
    const int pixels = c.shape.result_height() * c.shape.result_width();
    for (int image = 0; image < c.shape.batch; ++image)
        for (int o = 0; o < c.shape.outputs; ++o)
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
    const ConvolutionPlan plan = plan_direct_gradient(loops, c.shape, {.precision = precision, .threads = threads});
    Gradients of{Numbers(c.weights(), poison), Numbers(static_cast<std::size_t>(c.shape.outputs), poison)};
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

void check(const ConvolutionShape& shape, const std::vector<int>& teams)
{
    for_loops([&](const DirectLoops& loops, Precision precision) {
        const Case c = make_case(shape, loops.lanes);
        const std::vector<double> weights = right_weights(c), bias = right_bias(c);
        for (const int threads : teams) {
            CAPTURE(shape.batch, shape.inputs, shape.outputs, shape.height, shape.width, shape.window, shape.stride,
                    shape.padding, threads);
            const Gradients found = computed(loops, precision, c, threads);
            CHECK(error(found.weights, weights) < tolerance);
            CHECK(error(found.bias, bias) < tolerance);
        }
    });
}

}  // namespace

TEST_CASE("The direct weights' gradient equals the definition for every window, stride and padding")
{
    for (const ConvolutionShape& shape : std::vector<ConvolutionShape>{
             {.batch = 2, .inputs = 32, .outputs = 32, .height = 13, .width = 13, .window = 3, .padding = 1},
             {.batch = 1, .inputs = 16, .outputs = 32, .height = 27, .width = 27, .window = 5, .padding = 2},
             {.batch = 2, .inputs = 32, .outputs = 16, .height = 13, .width = 14, .stride = 2},
             {.batch = 2,
             .inputs = 16,
             .outputs = 64,
             .height = 14,
             .width = 13,
             .window = 3,
             .stride = 2,
             .padding = 1},
             {.batch = 1,
             .inputs = 16,
             .outputs = 16,
             .height = 30,
             .width = 22,
             .window = 7,
             .stride = 2,
             .padding = 3},
             {.batch = 1, .inputs = 16, .outputs = 16, .height = 20, .width = 23, .window = 5, .stride = 4},
             {.batch = 3, .inputs = 16, .outputs = 16, .height = 1, .width = 1, .window = 3, .padding = 1},
             {.batch = 2, .inputs = 16, .outputs = 16, .height = 2, .width = 3, .window = 5, .padding = 4},
         })
        check(shape, {1, 3});
}

TEST_CASE("The direct weights' gradient is the same in pieces, regions and any number of blocks")
{
    for (const ConvolutionShape& shape : std::vector<ConvolutionShape>{
             {.batch = 5, .inputs = 16, .outputs = 16, .height = 7, .width = 7, .window = 3, .padding = 1},  // images
             {.batch = 1,
             .inputs = 16,
             .outputs = 16,
             .height = 5,
             .width = 230,
             .window = 3,
             .padding = 1},                                                         // columns
             {.batch = 2, .inputs = 176, .outputs = 144, .height = 9, .width = 8},  // regions
             {.batch = 1, .inputs = 80, .outputs = 112, .height = 5, .width = 4, .window = 3, .padding = 1},
         })
        check(shape, {1, 2, 7});
}

TEST_CASE("The direct weights' gradient works without bias and is bitwise reproducible for equal threads")
{
    const ConvolutionShape shape{
        .batch = 3, .inputs = 32, .outputs = 48, .height = 12, .width = 12, .window = 3, .padding = 1};
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
