// The direct convolution kernel, forward and backward_data, compared with the definition in double precision: each
// instruction set, many windows, strides and paddings, all ways to share the work.
#include "tests/onednn/blocked_maps.hpp"
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/direct/maps.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

using namespace roof::kernels;

namespace {

struct Case {
    ConvolutionShape shape;
    int lanes;
    Maps source, result;
    Numbers x, w, dy, bias;

    Case(const ConvolutionShape& of, int of_lanes)
        : shape(of),
          lanes(of_lanes),
          source{of.inputs, of.height, of.width, lanes},
          result{of.outputs, of.result_height(), of.result_width(), lanes},
          x(random_numbers(source.size(of.batch), 1)),
          w(random_numbers(static_cast<std::size_t>(of.inputs * of.outputs * of.window * of.window), 2)),
          dy(random_numbers(result.size(of.batch), 3)),
          bias(random_numbers(static_cast<std::size_t>(of.outputs), 4))
    {
    }

    float weight(int o, int i, int tap) const
    {
        const int block = (o / lanes * (shape.inputs / lanes) + i / lanes) * shape.window * shape.window + tap;
        return w[static_cast<std::size_t>(block * lanes * lanes + i % lanes * lanes + o % lanes)];
    }

    /// Calls round(source, weight, result) for each product of the convolution, with two places and a number.
    template <class Round>
    void for_products(const Round& round) const
    {
        for (int image = 0; image < shape.batch; ++image)
            for (int place = 0; place < result.height * result.width; ++place)
                for (int tap = 0; tap < shape.window * shape.window; ++tap) {
                    const int row = place / result.width, column = place % result.width;
                    const int down = row * shape.stride + tap / shape.window - shape.padding;
                    const int across = column * shape.stride + tap % shape.window - shape.padding;
                    if (!source.holds(down, across)) continue;
                    for (int o = 0; o < shape.outputs; ++o)
                        for (int i = 0; i < shape.inputs; ++i)
                            round(source.at(image, i, down, across), static_cast<double>(weight(o, i, tap)),
                                  result.at(image, o, row, column));
                }
    }
};

/// The maximum difference divided by the size of a typical value. NaN counts as the maximum.
double error(const Numbers& computed, const std::vector<double>& right)
{
    double largest = 0, squares = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        const double difference = std::abs(static_cast<double>(computed[i]) - right[i]);
        largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
        squares += right[i] * right[i];
    }
    return largest / std::sqrt(squares / static_cast<double>(right.size()));
}

constexpr double tolerance = 1e-5;
const float poison = std::nanf("");

/// Memory aligned to a cache line, as in the engine.
struct Aligned {
    explicit Aligned(const Numbers& numbers) : memory(numbers.size() + 16, poison)
    {
        void* first = memory.data();
        std::size_t space = memory.size() * sizeof(float);
        data = static_cast<float*>(std::align(64, numbers.size() * sizeof(float), first, space));
        std::ranges::copy(numbers, data);
    }
    Numbers memory;
    float* data;
};

Numbers pass(const DirectLoops& loops, const Case& c, Pass which, bool relu, int threads)
{
    const DirectMaps maps(loops, which, c.shape, threads);
    const bool forward = which == Pass::forward;
    Aligned scratch(Numbers(maps.scratch(), poison)), result(Numbers(forward ? c.dy.size() : c.x.size(), poison));
    maps.run(forward ? c.x.data() : c.dy.data(), c.w.data(), forward ? c.bias.data() : nullptr, relu, result.data,
             scratch.data);
    return {result.data, result.data + (forward ? c.dy.size() : c.x.size())};
}

void check(const DirectLoops& loops, const Case& c, int threads)
{
    std::vector<double> y(c.dy.size()), dx(c.x.size());
    c.for_products([&](std::size_t at_x, double weight, std::size_t at_y) {
        y[at_y] += weight * static_cast<double>(c.x[at_x]);
        dx[at_x] += weight * static_cast<double>(c.dy[at_y]);
    });
    for (int image = 0; image < c.shape.batch; ++image)
        for (int o = 0; o < c.shape.outputs; ++o)
            for (int place = 0; place < c.result.height * c.result.width; ++place)
                y[c.result.at(image, o, place / c.result.width, place % c.result.width)] +=
                    static_cast<double>(c.bias[static_cast<std::size_t>(o)]);
    CHECK(error(pass(loops, c, Pass::forward, false, threads), y) < tolerance);
    CHECK(error(pass(loops, c, Pass::backward_data, false, threads), dx) < tolerance);
    for (double& value : y) value = std::max(value, 0.0);
    CHECK(error(pass(loops, c, Pass::forward, true, threads), y) < tolerance);
}

std::vector<const DirectLoops*> loops_here()
{
    std::vector<const DirectLoops*> all;
    if (__builtin_cpu_supports("x86-64-v3")) all.push_back(&direct_avx2);
    if (__builtin_cpu_supports("x86-64-v4")) all.push_back(&direct_avx512);
    return all;
}

ConvolutionShape shape_of(int batch, int inputs, int outputs, int height, int width, int window, int stride,
                          int padding)
{
    return {.batch = batch,
            .inputs = inputs,
            .outputs = outputs,
            .height = height,
            .width = width,
            .window = window,
            .stride = stride,
            .padding = padding};
}

}  // namespace

TEST_CASE("A direct convolution equals the definition for every window, map and thread count")
{
    const std::vector<ConvolutionShape> shapes{
        shape_of(1, 32, 32, 27, 13, 3, 1, 1),   // tiles of unequal width
        shape_of(3, 32, 64, 7, 7, 3, 1, 1),     // rows of two images per tile, and one image left over
        shape_of(2, 64, 32, 9, 14, 3, 2, 1),    // stride 2
        shape_of(1, 32, 32, 11, 11, 5, 1, 2),   // padding too wide for a tile: needs a frame
        shape_of(2, 32, 32, 12, 12, 7, 2, 3),   // a frame with a stride
        shape_of(1, 32, 32, 23, 25, 11, 4, 2),  // a frame with a longer stride
        shape_of(2, 64, 32, 15, 28, 1, 1, 0),   // one tap
        shape_of(2, 32, 64, 14, 14, 1, 2, 0),   // no result reads three of four inputs
        shape_of(2, 32, 32, 8, 8, 2, 3, 0),     // a window smaller than its stride
        shape_of(2, 32, 32, 6, 6, 3, 1, 0),     // fewer results than inputs
        shape_of(1, 32, 32, 1, 1, 3, 1, 1),     // the smallest map
        shape_of(2, 32, 32, 5, 1, 3, 1, 2),     // more padding than map
    };
    for (const DirectLoops* loops : loops_here()) {
        for (const ConvolutionShape& shape : shapes) {
            const Case c(shape, loops->lanes);
            for (const int threads : {1, 3}) {
                CAPTURE(loops->name, shape.height, shape.width, shape.window, shape.stride, shape.padding, threads);
                check(*loops, c, threads);
            }
        }
    }
}

TEST_CASE("A direct convolution is correct with channels and rows in parts")
{
    const std::vector<ConvolutionShape> shapes{
        shape_of(2, 512, 32, 4, 4, 3, 1, 1),   // inputs in chunks forward, outputs in groups backward
        shape_of(1, 32, 512, 4, 4, 3, 2, 1),   // the reverse
        shape_of(1, 32, 32, 90, 30, 5, 1, 2),  // strips of rows, in frames
    };
    for (const DirectLoops* loops : loops_here()) {
        for (const ConvolutionShape& shape : shapes) {
            CAPTURE(loops->name, shape.inputs, shape.outputs, shape.height);
            check(*loops, Case(shape, loops->lanes), 2);
        }
    }
}

TEST_CASE("direct_suits() rejects channels that do not fill a block")
{
    if (direct_lanes() == 0) return;
    CHECK(direct_suits(shape_of(1, 64, 64, 8, 8, 3, 1, 1)));
    CHECK_FALSE(direct_suits(shape_of(1, 3, 64, 8, 8, 3, 1, 1)));
    CHECK_FALSE(direct_suits(shape_of(1, 64, 40, 8, 8, 3, 1, 1)));
    CHECK_FALSE(direct_suits(shape_of(1, 64, 64, 40, 40, direct_largest_window + 1, 1, 1)));
}
