// The direct convolution kernel, forward and backward_data, compared with the definition in double precision: each
// instruction set, many windows, strides and paddings, all ways to share the work.
#include "tests/onednn/blocked_maps.hpp"
#include "tests/skip.hpp"
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
    Maps source, result;
    Numbers x, w, dy, bias;
    Precision precision = Precision::fp32;  ///< of the maps
    std::vector<double> y, dx;              ///< by the definition, once they were found

    Case(const ConvolutionPass& of, int of_lanes)
        : shape(of),
          lanes(of_lanes),
          source{of.source.channels, of.source.height, of.source.width, lanes},
          result{of.result.channels, of.result.height, of.result.width, lanes},
          x(rounded(random_numbers(source.size(of.batch), 1))),
          w(rounded(random_numbers(
              static_cast<std::size_t>(of.source.channels * of.result.channels * of.window.size * of.window.size), 2))),
          dy(rounded(random_numbers(result.size(of.batch), 3))),
          bias(random_numbers(static_cast<std::size_t>(of.result.channels), 4))
    {
    }

    void find_results()
    {
        y.assign(dy.size(), 0);
        dx.assign(x.size(), 0);
        for (int image = 0; image < shape.batch; ++image)
            for (int place = 0; place < result.height * result.width; ++place)
                for (int o = 0; o < shape.result.channels; ++o)
                    add_products(image, o, place / result.width, place % result.width);
    }

  private:
    /// The products of one result, for each tap of all inputs.
    void add_products(int image, int o, int row, int column)
    {
        const std::size_t to = result.at(image, o, row, column);
        auto sum = static_cast<double>(bias[static_cast<std::size_t>(o)]);
        const auto of_result = static_cast<double>(dy[to]);
        for (int tap = 0; tap < shape.window.size * shape.window.size; ++tap) {
            const int down = row * shape.window.stride + tap / shape.window.size - shape.window.padding;
            const int across = column * shape.window.stride + tap % shape.window.size - shape.window.padding;
            if (!source.holds(down, across)) continue;
            for (int i = 0; i < shape.source.channels; i += lanes) {
                const std::size_t from = source.at(image, i, down, across), weight = weight_at(o, i, tap);
                for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
                    const auto factor = static_cast<double>(w[weight + lane * static_cast<std::size_t>(lanes)]);
                    sum += factor * static_cast<double>(x[from + lane]);
                    dx[from + lane] += factor * of_result;
                }
            }
        }
        y[to] = sum;
    }
    std::size_t weight_at(int o, int i, int tap) const
    {
        const int block =
            (o / lanes * (shape.source.channels / lanes) + i / lanes) * shape.window.size * shape.window.size + tap;
        return static_cast<std::size_t>(block * lanes * lanes + i % lanes * lanes + o % lanes);
    }
};

/// Results in bf16 are rounded to 8 bits.
double tolerance(Precision precision)
{
    return precision == Precision::bf16 ? 4e-2 : 1e-5;
}
const float poison = std::nanf("");

Numbers pass(const DirectLoops& loops, const Case& c, Pass which, bool relu, int threads)
{
    const ConvolutionPlan plan = plan_direct_maps(loops, {c.shape, which, c.precision, false, relu}, threads);
    const bool forward = which == Pass::forward;
    Stored workspace(Numbers(plan.workspace, poison)), w(c.w), bias(c.bias), source(forward ? c.x : c.dy, c.precision);
    const Stored result(Numbers(forward ? c.dy.size() : c.x.size(), poison), c.precision);
    plan.run({.source = (forward ? source : result).elements,
              .weights = w.data(),
              .result = (forward ? result : source).elements,
              .bias = bias.data(),
              .workspace = workspace.data()});
    return result.numbers();
}

void check(const DirectLoops& loops, Case& c, int threads)
{
    if (c.y.empty()) c.find_results();
    CHECK(error(pass(loops, c, Pass::forward, false, threads), c.y) < tolerance(c.precision));
    CHECK(error(pass(loops, c, Pass::backward_data, false, threads), c.dx) < tolerance(c.precision));
    std::vector<double> positive = c.y;
    for (double& value : positive) value = std::max(value, 0.0);
    CHECK(error(pass(loops, c, Pass::forward, true, threads), positive) < tolerance(c.precision));
}

/// Calls check(loops, case) for every instruction set and precision.
template <class Check>
void for_all(const std::vector<ConvolutionPass>& shapes, const Check& check)
{
    for (const DirectLoops* loops : direct_loops_here()) {
        for (const ConvolutionPass& shape : shapes) {
            Case c(shape, loops->lanes);
            for (const Precision precision : {Precision::fp32, Precision::bf16}) {
                if (loops->numbers == 2 && precision == Precision::fp32) continue;
                CAPTURE(loops->name, traits(precision).name, shape.source.channels, shape.source.height,
                        shape.source.width, shape.window.size, shape.window.stride, shape.window.padding);
                c.precision = precision;
                check(*loops, c);
            }
        }
    }
}

}  // namespace

TEST_CASE("A direct convolution equals the definition for every window, map and thread count")
{
    const std::vector<ConvolutionPass> shapes{
        shape_of(1, {32, 27, 13}, 32, {3, 1, 1}),   // tiles of unequal width
        shape_of(3, {32, 7, 7}, 64, {3, 1, 1}),     // rows of two images per tile, and one image left over
        shape_of(2, {64, 9, 14}, 32, {3, 2, 1}),    // stride 2
        shape_of(1, {32, 11, 11}, 32, {5, 1, 2}),   // padding too wide for a tile: needs a frame
        shape_of(2, {32, 12, 12}, 32, {7, 2, 3}),   // a frame with a stride
        shape_of(1, {32, 23, 25}, 32, {11, 2, 2}),  // a frame with a longer window
        shape_of(2, {64, 15, 28}, 32, {1, 1, 0}),   // one tap
        shape_of(2, {32, 14, 14}, 64, {1, 2, 0}),   // no result reads three of four inputs
        shape_of(2, {32, 8, 8}, 32, {1, 2, 1}),     // a window smaller than its stride
        shape_of(2, {32, 6, 6}, 32, {3, 1, 0}),     // fewer results than inputs
        shape_of(1, {32, 1, 1}, 32, {3, 1, 1}),     // the smallest map
        shape_of(2, {32, 5, 1}, 32, {3, 1, 2}),     // more padding than map
    };
    for_all(shapes, [](const DirectLoops& loops, Case& c) {
        for (const int threads : {1, 3}) {
            CAPTURE(threads);
            check(loops, c, threads);
        }
    });
}

TEST_CASE("A direct convolution is correct with channels and rows in parts")
{
    const std::vector<ConvolutionPass> shapes{
        shape_of(2, {512, 4, 4}, 32, {3, 1, 1}),   // inputs that fill the L2 forward, outputs in groups backward
        shape_of(1, {32, 4, 4}, 512, {3, 2, 1}),   // the reverse
        shape_of(1, {32, 90, 30}, 32, {5, 1, 2}),  // strips of rows, in frames
    };
    for_all(shapes, [](const DirectLoops& loops, Case& c) { check(loops, c, 2); });
}

TEST_CASE("Results that do not fit a cache are those of each image alone")
{
    const ConvolutionPass one = shape_of(1, {32, 129, 120}, 32, {1, 1, 0});
    ConvolutionPass many = one;
    many.batch = 18;  // more than 16 MiB in bf16
    for_all({many}, [&](const DirectLoops& loops, const Case& all) {
        const Numbers y = pass(loops, all, Pass::forward, true, 2);
        Case last(one, all.lanes);
        last.precision = all.precision;
        last.x.assign(all.x.end() - std::ssize(last.x), all.x.end());
        const Numbers of_last = pass(loops, last, Pass::forward, true, 2);
        CHECK(std::equal(of_last.begin(), of_last.end(), y.end() - std::ssize(of_last)));
    });
}

TEST_CASE("There are kernels only for channels that fill a block, and windows and strides in range")
{
    if (convolution_lanes() == 0) return skip("there are no convolution kernels for this processor");
    const auto has_direct = [](const ConvolutionPass& shape) { return !convolution_plans(shape, 1).empty(); };
    CHECK(has_direct(shape_of(1, {64, 8, 8}, 64, {3, 1, 1})));
    CHECK_FALSE(has_direct(shape_of(1, {3, 8, 8}, 64, {3, 1, 1})));
    CHECK_FALSE(has_direct(shape_of(1, {64, 8, 8}, 40, {3, 1, 1})));
    CHECK_FALSE(has_direct(shape_of(1, {64, 8, 8}, 64, {3, direct_largest_stride + 1, 1})));
    CHECK_FALSE(has_direct(shape_of(1, {64, 40, 40}, 64, {direct_largest_window + 1, 1, 1})));
}

TEST_CASE("Plans apply the ReLU in the forward pass only")
{
    const ConvolutionPass shape = shape_of(2, {32, 8, 8}, 32, {3, 1, 1});
    const Numbers maps(2 * 32 * 8 * 8, 1), weights(32 * 32 * 9, -1);
    for (const Pass of : {Pass::forward, Pass::backward_data}) {
        for (const ConvolutionPlan& plan : convolution_plans({shape, of, Precision::fp32, false, true}, 1)) {
            CAPTURE(plan.name);
            const Stored x(maps), y(maps);
            Stored w(weights), workspace(Numbers(plan.workspace, poison));
            plan.run({.source = x.elements, .weights = w.data(), .result = y.elements, .workspace = workspace.data()});
            const Numbers written = (of == Pass::forward ? y : x).numbers();
            CHECK(std::ranges::all_of(written, [&](float number) { return (number < 0) != (of == Pass::forward); }));
        }
    }
}

TEST_CASE("In bf16 the kernels multiply by the dot product if there is one, and by widened numbers")
{
    if (convolution_lanes() == 0) return skip("there are no convolution kernels for this processor");
    for (const Pass pass : {Pass::forward, Pass::backward_data, Pass::backward_weights}) {
        const auto plans = convolution_plans({shape_of(2, {32, 8, 8}, 32, {3, 1, 1}), pass, Precision::bf16}, 1);
        const bool has_dot = direct_loops_here().front()->numbers == 2;
        REQUIRE(plans.size() == (has_dot ? 3 : 2));
        CHECK((plans.front().name == "roof:direct:avx512_bf16") == has_dot);
        CHECK(plans.back().algorithm == Algorithm::winograd);
    }
}
