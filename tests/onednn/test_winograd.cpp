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

/// Results in bf16 are rounded to 8 bits.
double tolerance(Precision precision)
{
    return precision == Precision::bf16 ? 4e-2 : 1e-4;
}
const float poison = std::nanf("");

/// Maps, weights and the gradient of the results, and what the definition makes of them: y without a bias, and the
/// gradients.
struct Case {
    ConvolutionPass shape;
    Maps source, result;
    Numbers x, w, dy, bias;
    std::vector<double> y, dx, dw, db;

    Case(const ConvolutionPass& of, int lanes)
        : shape(of),
          source{of.source.channels, of.source.height, of.source.width, lanes},
          result{of.result.channels, of.source.height, of.source.width, lanes},
          x(rounded(random_numbers(source.size(of.batch), 1))),
          w(random_numbers(static_cast<std::size_t>(9 * of.source.channels * of.result.channels), 2)),
          dy(rounded(random_numbers(result.size(of.batch), 3))),
          bias(random_numbers(static_cast<std::size_t>(of.result.channels), 4)),
          y(dy.size()),
          dx(x.size()),
          dw(w.size()),
          db(bias.size())
    {
        for (int image = 0; image < shape.batch; ++image)
            for (int o = 0; o < shape.result.channels; ++o)
                for (int row = 0; row < result.height; ++row)
                    for (int column = 0; column < result.width; ++column) add_products(image, o, row, column);
    }

  private:
    /// The products of one result, for each tap of all inputs.
    void add_products(int image, int o, int row, int column)
    {
        const std::size_t to = result.at(image, o, row, column);
        const auto of_result = static_cast<double>(dy[to]);
        double sum = 0;
        for (int tap = 0; tap < 9; ++tap) {
            const int down = row + tap / 3 - 1, across = column + tap % 3 - 1;
            if (!source.holds(down, across)) continue;
            for (int i = 0; i < shape.source.channels; i += source.lanes) {
                const std::size_t from = source.at(image, i, down, across), weight = weight_at(o, i, tap);
                for (std::size_t lane = 0; lane < static_cast<std::size_t>(source.lanes); ++lane) {
                    const auto number = static_cast<double>(x[from + lane]);
                    const std::size_t at = weight + lane * static_cast<std::size_t>(source.lanes);
                    const auto factor = static_cast<double>(w[at]);
                    sum += number * factor;
                    dx[from + lane] += of_result * factor;
                    dw[at] += of_result * number;
                }
            }
        }
        y[to] = sum;
        db[static_cast<std::size_t>(o)] += of_result;
    }
    std::size_t weight_at(int o, int i, int tap) const
    {
        const int lanes = source.lanes;
        const int block = (o / lanes * (shape.source.channels / lanes) + i / lanes) * 9 + tap;
        return static_cast<std::size_t>(block * lanes * lanes + i % lanes * lanes + o % lanes);
    }
};

void check_forward(const WinogradLoops& loops, const Case& c, Precision precision, int threads)
{
    std::vector<double> right = c.y;
    for (std::size_t k = 0; k < right.size(); ++k) right[k] += static_cast<double>(c.bias[c.result.channel_of(k)]);
    for (const bool relu : {false, true}) {
        const ConvolutionPlan plan =
            plan_winograd_maps(loops, {c.shape, Pass::forward, precision, false, relu}, threads);
        const Stored x(c.x, precision), y(Numbers(right.size(), poison), precision);
        Stored w(c.w), b(c.bias), workspace(Numbers(plan.workspace, poison));
        plan.run({x.elements, w.data(), y.elements, b.data(), workspace.data()});
        std::vector<double> wanted = right;
        for (double& value : wanted) value = relu ? std::max(value, 0.0) : value;
        CHECK(error(y.numbers(), wanted) < tolerance(precision));
    }
}

void check_backward_data(const WinogradLoops& loops, const Case& c, Precision precision, int threads)
{
    const ConvolutionPlan plan = plan_winograd_maps(loops, {c.shape, Pass::backward_data, precision}, threads);
    const Stored dx(Numbers(c.dx.size(), poison), precision), dy(c.dy, precision);
    Stored w(c.w), workspace(Numbers(plan.workspace, poison));
    plan.run({dx.elements, w.data(), dy.elements, nullptr, workspace.data()});
    CHECK(error(dx.numbers(), c.dx) < tolerance(precision));
}

void check_backward_weights(const WinogradLoops& loops, const Case& c, Precision precision, int threads)
{
    const ConvolutionPlan plan = plan_winograd_gradient(loops, {c.shape, Pass::backward_weights, precision}, threads);
    const Stored x(c.x, precision), dy(c.dy, precision);
    Numbers dw(c.dw.size(), poison), db(c.db.size(), poison);
    Stored workspace(Numbers(plan.workspace, poison));
    plan.run({x.elements, dw.data(), dy.elements, db.data(), workspace.data()});
    CHECK(error(dw, c.dw) < tolerance(Precision::fp32));
    CHECK(error(db, c.db) < tolerance(Precision::fp32));
}

void check_all(const std::vector<ConvolutionPass>& shapes, const std::vector<int>& teams,
               const std::vector<Precision>& precisions)
{
    for (const WinogradLoops* loops : winograd_loops_here()) {
        for (const ConvolutionPass& shape : shapes) {
            const Case c(shape, loops->lanes);
            for (const Precision precision : precisions) {
                for (const int threads : teams) {
                    CAPTURE(loops->name, traits(precision).name, shape.source.channels, shape.result.channels,
                            shape.source.height, shape.source.width, threads);
                    check_forward(*loops, c, precision, threads);
                    check_backward_data(*loops, c, precision, threads);
                    check_backward_weights(*loops, c, precision, threads);
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
    check_all({tiles_in_pieces, shape_of(3, {32, 37, 42}, 64, {3, 1, 1})}, {1, 3}, {Precision::fp32});
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
