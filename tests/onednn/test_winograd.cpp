// The Winograd convolution kernel, compared with the definition of a convolution in double precision: each instruction
// set, whole and cut tiles, all ways to share the work.
#include "tests/onednn/blocked_maps.hpp"
#include "tests/skip.hpp"
#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/winograd/isa.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace roof;
using namespace roof::kernels;

namespace {

std::size_t weight_at(const ConvolutionPass& shape, int lanes, int o, int i, int tap)
{
    const int block = (o / lanes * (shape.source.channels / lanes) + i / lanes) * 9 + tap;
    return static_cast<std::size_t>(block * lanes * lanes + i % lanes * lanes + o % lanes);
}

/// Calls round(source, weight, result) with the indices of each product of the convolution.
template <class Round>
void for_products(const ConvolutionPass& shape, int lanes, const Round& round)
{
    const Maps source{shape.source.channels, shape.source.height, shape.source.width, lanes};
    const Maps result{shape.result.channels, shape.source.height, shape.source.width, lanes};
    for (int image = 0; image < shape.batch; ++image)
        for (int o = 0; o < shape.result.channels; ++o)
            for (int i = 0; i < shape.source.channels; ++i)
                for (int tap = 0; tap < 9; ++tap) {
                    const std::size_t weight = weight_at(shape, lanes, o, i, tap);
                    for (int row = 0; row < shape.source.height; ++row)
                        for (int column = 0; column < shape.source.width; ++column) {
                            const int down = row + tap / 3 - 1, across = column + tap % 3 - 1;
                            if (source.holds(down, across))
                                round(source.at(image, i, down, across), weight, result.at(image, o, row, column));
                        }
                }
}

/// Results in bf16 are rounded to 8 bits.
double tolerance(Precision precision)
{
    return precision == Precision::bf16 ? 4e-2 : 1e-4;
}
const float poison = std::nanf("");

struct Case {
    ConvolutionPass shape;
    Precision precision;  ///< of the maps
    Numbers x, w, dy;
};

Case make_case(const ConvolutionPass& shape, Precision precision)
{
    const auto maps = static_cast<std::size_t>(shape.batch * shape.source.height * shape.source.width);
    const auto inputs = static_cast<std::size_t>(shape.source.channels),
               outputs = static_cast<std::size_t>(shape.result.channels);
    return {shape, precision, rounded(random_numbers(maps * inputs, 1)), random_numbers(9 * inputs * outputs, 2),
            rounded(random_numbers(maps * outputs, 3))};
}

void check_forward(const WinogradLoops& loops, const Case& c, int threads)
{
    const Numbers bias = random_numbers(static_cast<std::size_t>(c.shape.result.channels), 4);
    const Maps result{c.shape.result.channels, c.shape.source.height, c.shape.source.width, loops.lanes};
    std::vector<double> right(c.dy.size());
    for (int image = 0; image < c.shape.batch; ++image)
        for (int o = 0; o < c.shape.result.channels; ++o)
            for (int place = 0; place < c.shape.source.height * c.shape.source.width; ++place)
                right[result.at(image, o, place / c.shape.source.width, place % c.shape.source.width)] =
                    bias[static_cast<std::size_t>(o)];
    for_products(c.shape, loops.lanes, [&](std::size_t x, std::size_t w, std::size_t y) {
        right[y] += static_cast<double>(c.x[x]) * static_cast<double>(c.w[w]);
    });
    for (const bool relu : {false, true}) {
        const ConvolutionPlan plan =
            plan_winograd_maps(loops, {c.shape, Pass::forward, c.precision, false, relu}, threads);
        const Stored x(c.x, c.precision), y(Numbers(right.size(), poison), c.precision);
        Stored w(c.w), b(bias), workspace(Numbers(plan.workspace, poison));
        plan.run({x.elements, w.data(), y.elements, b.data(), workspace.data()});
        std::vector<double> wanted = right;
        for (double& value : wanted) value = relu ? std::max(value, 0.0) : value;
        CHECK(error(y.numbers(), wanted) < tolerance(c.precision));
    }
}

void check_backward_data(const WinogradLoops& loops, const Case& c, int threads)
{
    std::vector<double> right(c.x.size());
    for_products(c.shape, loops.lanes, [&](std::size_t x, std::size_t w, std::size_t y) {
        right[x] += static_cast<double>(c.dy[y]) * static_cast<double>(c.w[w]);
    });
    const ConvolutionPlan plan = plan_winograd_maps(loops, {c.shape, Pass::backward_data, c.precision}, threads);
    const Stored dx(Numbers(right.size(), poison), c.precision), dy(c.dy, c.precision);
    Stored w(c.w), workspace(Numbers(plan.workspace, poison));
    plan.run({dx.elements, w.data(), dy.elements, nullptr, workspace.data()});
    CHECK(error(dx.numbers(), right) < tolerance(c.precision));
}

void check_backward_weights(const WinogradLoops& loops, const Case& c, int threads)
{
    std::vector<double> right(c.w.size());
    for_products(c.shape, loops.lanes, [&](std::size_t x, std::size_t w, std::size_t y) {
        right[w] += static_cast<double>(c.dy[y]) * static_cast<double>(c.x[x]);
    });
    std::vector<double> right_bias(static_cast<std::size_t>(c.shape.result.channels));
    const Maps result{c.shape.result.channels, c.shape.source.height, c.shape.source.width, loops.lanes};
    for (int image = 0; image < c.shape.batch; ++image)
        for (int o = 0; o < c.shape.result.channels; ++o)
            for (int place = 0; place < c.shape.source.height * c.shape.source.width; ++place)
                right_bias[static_cast<std::size_t>(o)] += static_cast<double>(
                    c.dy[result.at(image, o, place / c.shape.source.width, place % c.shape.source.width)]);
    const ConvolutionPlan plan = plan_winograd_gradient(loops, {c.shape, Pass::backward_weights, c.precision}, threads);
    const Stored x(c.x, c.precision), dy(c.dy, c.precision);
    Numbers dw(right.size(), poison), db(right_bias.size(), poison);
    Stored workspace(Numbers(plan.workspace, poison));
    plan.run({x.elements, dw.data(), dy.elements, db.data(), workspace.data()});
    CHECK(error(dw, right) < tolerance(Precision::fp32));
    CHECK(error(db, right_bias) < tolerance(Precision::fp32));
}

void check_all(const std::vector<ConvolutionPass>& shapes, const std::vector<int>& teams,
               const std::vector<Precision>& precisions)
{
    for (const WinogradLoops* loops : winograd_loops_here()) {
        for (const Precision precision : precisions) {
            for (const ConvolutionPass& shape : shapes) {
                const Case c = make_case(shape, precision);
                for (const int threads : teams) {
                    CAPTURE(loops->name, traits(precision).name, shape.source.channels, shape.result.channels,
                            shape.source.height, shape.source.width, threads);
                    check_forward(*loops, c, threads);
                    check_backward_data(*loops, c, threads);
                    check_backward_weights(*loops, c, threads);
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("Winograd passes equal the definition for every map and thread count")
{
    const std::vector<ConvolutionPass> shapes{
        shape_of(1, {32, 4, 4}, 32, {3, 1, 1}),    // one tile, cut by the edge
        shape_of(2, {32, 13, 13}, 64, {3, 1, 1}),  // cut tiles
        shape_of(1, {64, 7, 22}, 32, {3, 1, 1}),   // height is not width
        shape_of(3, {32, 1, 1}, 32, {3, 1, 1}),    // the smallest map
    };
    check_all(shapes, {1, 3}, {Precision::fp32, Precision::bf16});
}

TEST_CASE("Winograd passes are correct with weights larger than a cache and batches in pieces")
{
    const ConvolutionPass by_channels = shape_of(1, {512, 5, 5}, 256, {3, 1, 1});
    const ConvolutionPass tiles_in_pieces = shape_of(1, {32, 90, 90}, 32, {3, 1, 1});
    const ConvolutionPass beyond_near_weights =
        shape_of(1, {192, 6, 7}, 192, {3, 1, 1});  // below the limit of small ones
    const ConvolutionPass beyond_small_weights = shape_of(2, {352, 5, 5}, 352, {3, 1, 1});
    check_all({by_channels, beyond_near_weights}, {2}, {Precision::fp32});
    check_all({tiles_in_pieces, beyond_small_weights}, {2}, {Precision::bf16});
}

TEST_CASE("Each result is in one tile, and a tile needs two more points per axis than it has results")
{
    const int batch = 3;
    for (const auto& [height, width] : {std::pair{4, 8}, {7, 14}, {13, 5}, {3, 9}, {1, 1}}) {
        CAPTURE(height, width);
        std::vector<int> covered(static_cast<std::size_t>(batch * height * width));
        for (const int thread : {0, 1}) {
            const WinogradTiles tiles(batch, height, width, thread, 2);
            for (int tile = 0; tile < tiles.count(); ++tile) {
                const WinogradPlace at = tiles.place_of(tile);
                for (int result = 0; result < at.rows * at.columns; ++result) {
                    const int row = at.row + result / at.columns, column = at.column + result % at.columns;
                    ++covered[static_cast<std::size_t>((at.image * height + row) * width + column)];
                }
                for (int point = 0; point < winograd_points; ++point) {
                    const bool is_needed = point / 6 < at.rows + 2 && point % 6 < at.columns + 2;
                    const Range needing = tiles.needing(point);
                    CHECK((tile >= needing.begin && tile < needing.end) == is_needed);
                }
            }
        }
        CHECK(std::ranges::count(covered, 1) == std::ssize(covered));
    }
}

TEST_CASE("There are Winograd kernels for windows of 3x3 with stride and padding 1")
{
    if (convolution_lanes() == 0) return skip("there are no convolution kernels for this processor");
    const auto has_winograd = [](int stride) {
        const ConvolutionPass shape = shape_of(1, {64, 8, 8}, 64, {3, stride, 1});
        return convolution_plans(shape, 1).back().algorithm == Algorithm::winograd;
    };
    CHECK(has_winograd(1));
    CHECK_FALSE(has_winograd(2));
}
