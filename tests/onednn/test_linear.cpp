// The linear layer loops of every supported instruction set, compared with sums in double.
#include "workloads/kernels/linear/isa.hpp"
#include "workloads/model/hashed.hpp"
#include "workloads/onednn/program/program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace roof;
using namespace roof::onednn;
using namespace roof::kernels;

namespace {

/// The same hashed numbers in both precisions.
struct Matrix {
    Matrix(std::uint32_t seed, int rows, int apart)
        : wide(filled(seed, static_cast<std::size_t>(rows) * static_cast<std::size_t>(apart))),
          half(wide.size()),
          row(apart)
    {
        for (std::size_t i = 0; i < wide.size(); ++i) narrow(wide[i], half[i]);
    }

    static std::vector<float> filled(std::uint32_t seed, std::size_t count)
    {
        std::vector<float> values(count);
        model::HashedFill{.seed = seed, .scale = 2, .offset = 0}.fill(values);
        return values;
    }
    Elements elements(Precision precision)
    {
        return {precision == Precision::bf16 ? static_cast<void*>(half.data()) : wide.data(), precision};
    }
    double at(Precision precision, int r, int c) const
    {
        const auto place = static_cast<std::size_t>(r * row + c);
        return precision == Precision::bf16 ? widen(half[place]) : wide[place];
    }

    std::vector<float> wide;
    std::vector<BFloat16> half;
    int row;
};

struct Layer {
    explicit Layer(const LinearShape& of)
        : shape(of),
          w(1, of.outputs, of.row),
          x(2, of.batch, of.inputs),
          dy(3, of.batch, of.outputs),
          bias(4, 1, of.outputs)
    {
    }

    double result(Precision precision, int n, int o) const
    {
        double sum = 0;
        for (int i = 0; i < shape.inputs; ++i) sum += w.at(precision, o, i) * x.at(precision, n, i);
        return sum;
    }
    double source_gradient(Precision precision, int n, int i) const
    {
        double sum = 0;
        for (int o = 0; o < shape.outputs; ++o) sum += w.at(precision, o, i) * dy.at(precision, n, o);
        return sum;
    }
    double weight_gradient(Precision precision, int o, int i) const
    {
        double sum = 0;
        for (int n = 0; n < shape.batch; ++n) sum += x.at(precision, n, i) * dy.at(precision, n, o);
        return sum;
    }

    LinearShape shape;
    Matrix w, x, dy, bias;
};

/// Whole tiles, all kinds of partial tiles, every image count of a tile, and batches larger than one chunk.
const std::vector<LinearShape> shapes{
    {.batch = 4, .inputs = 128, .outputs = 12},  {.batch = 7, .inputs = 83, .outputs = 11},
    {.batch = 1, .inputs = 5, .outputs = 1},     {.batch = 8, .inputs = 192, .outputs = 70},
    {.batch = 17, .inputs = 1667, .outputs = 8}, {.batch = 64, .inputs = 2100, .outputs = 9},
    {.batch = 1100, .inputs = 70, .outputs = 7}};

constexpr double accepted = 1e-5;  ///< for sums of products of numbers below 1, per root of their count

/// Calls check(loops, precision, layer) for every combination.
template <class Check>
void for_all(const Check& check)
{
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        for (const LinearLoops* loops : linear_loops_here(precision)) {
            for (const LinearShape& shape : shapes) {
                INFO(loops->name << ' ' << shape.batch << ' ' << shape.inputs << ' ' << shape.outputs << ' '
                                 << traits(precision).name);
                Layer layer(shape);
                check(*loops, precision, layer);
            }
        }
    }
}

/// The larger of the two; NaN counts as 1.
double larger(double worst, double error)
{
    return std::isnan(error) ? 1 : std::max(worst, std::abs(error));
}

}  // namespace

TEST_CASE("A linear layer's results are sums of products over its rows")
{
    for_all([](const LinearLoops& loops, Precision precision, Layer& layer) {
        const LinearShape& shape = layer.shape;
        std::vector<float> y(layer.dy.wide.size(), 1);
        const int half = shape.outputs / 2;
        loops.forward(shape, layer.w.elements(precision), layer.x.elements(precision), y.data(), {0, half});
        loops.forward(shape, layer.w.elements(precision), layer.x.elements(precision), y.data(), {half, shape.outputs});
        double worst = 0;
        for (int n = 0; n < shape.batch; n += 1 + shape.batch / 9) {
            for (int o = 0; o < shape.outputs; ++o)
                worst = larger(worst,
                               1 + layer.result(precision, n, o) - y[static_cast<std::size_t>(n * shape.outputs + o)]);
        }
        CHECK(worst < accepted * std::sqrt(shape.inputs));
    });
}

TEST_CASE("A linear layer's source gradients are sums of products over its columns")
{
    for_all([](const LinearLoops& loops, Precision precision, Layer& layer) {
        const LinearShape& shape = layer.shape;
        std::vector<float> dx(layer.x.wide.size(), NAN);
        const int half = std::min(64, shape.inputs);
        for (const Range& columns : {Range{0, half}, Range{half, shape.inputs}})
            loops.backward_data(shape, layer.w.elements(precision), layer.dy.elements(precision), dx.data(), columns);
        double worst = 0;
        for (int n = 0; n < shape.batch; n += 1 + shape.batch / 9) {
            for (int i = 0; i < shape.inputs; ++i)
                worst = larger(
                    worst, layer.source_gradient(precision, n, i) - dx[static_cast<std::size_t>(n * shape.inputs + i)]);
        }
        CHECK(worst < accepted * std::sqrt(shape.outputs));
    });
}

TEST_CASE("A linear layer's weight gradients are sums over the batch and leave the row gaps unchanged")
{
    for_all([](const LinearLoops& loops, Precision precision, Layer& layer) {
        const LinearShape& shape = layer.shape;
        std::vector<float> g(layer.w.wide.size(), 3);
        loops.backward_weights(shape, layer.x.elements(precision), layer.dy.elements(precision), g.data(),
                               {0, shape.outputs});
        double worst = 0;
        for (int o = 0; o < shape.outputs; ++o) {
            const float* row = g.data() + std::ptrdiff_t{o} * shape.row;
            for (int i = 0; i < shape.inputs; ++i)
                worst = larger(worst, layer.weight_gradient(precision, o, i) - row[i]);
            for (int i = shape.inputs; i < shape.row; ++i) worst = larger(worst, 3 - row[i]);
        }
        CHECK(worst < accepted * std::sqrt(shape.batch));
    });
}

TEST_CASE("A linear layer's update is gradient descent with its gradient")
{
    constexpr float rate = 0.1F;
    for_all([](const LinearLoops& loops, Precision precision, Layer& layer) {
        const LinearShape& shape = layer.shape;
        const Layer before(shape);
        std::vector<float> m = Matrix::filled(5, layer.w.wide.size());
        const std::vector<float> m_before = m;
        const LinearTrained trained{layer.w.wide.data(), m.data(), layer.w.half.data()};
        loops.update(shape, layer.x.elements(precision), layer.dy.elements(precision), rate, trained,
                     {0, shape.outputs});
        double worst = 0;
        int wrong_copies = 0;
        for (int o = 0; o < shape.outputs; ++o) {
            for (int i = 0; i < shape.inputs; ++i) {
                const auto at = static_cast<std::size_t>(o * shape.row + i);
                const double w = before.w.wide[at];
                const double momentum_then =
                    momentum * double{m_before[at]} + layer.weight_gradient(precision, o, i) + weight_decay * w;
                worst = larger(worst, m[at] - momentum_then);
                worst = larger(worst, layer.w.wide[at] - (w - rate * momentum_then));
                BFloat16 copy;
                narrow(layer.w.wide[at], copy);
                wrong_copies += layer.w.half[at].bits != copy.bits ? 1 : 0;
            }
        }
        CHECK(worst < accepted * std::sqrt(shape.batch));
        CHECK(wrong_copies == 0);
    });
}

TEST_CASE("A threaded linear layer adds the bias and applies the ReLU")
{
    Layer layer({.batch = 3, .inputs = 33, .outputs = 150});
    const Elements w = layer.w.elements(Precision::fp32);
    const Elements x = layer.x.elements(Precision::fp32);
    std::vector<float> y(450);
    std::vector<float> clipped(450);
    linear_forward(layer.shape, w, layer.bias.wide.data(), x, y.data(), false);
    linear_forward(layer.shape, w, layer.bias.wide.data(), x, clipped.data(), true);
    CHECK(y.back() == Approx(layer.bias.wide[149] + layer.result(Precision::fp32, 2, 149)).margin(1e-5));
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(clipped[i] == std::max(y[i], 0.0F));

    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        std::vector<float> db(150);
        linear_backward_bias(layer.shape, layer.dy.elements(precision), db.data());
        double sum = 0;
        for (int n = 0; n < 3; ++n) sum += layer.dy.at(precision, n, 149);
        CHECK(db[149] == Approx(sum));
    }
}

TEST_CASE("Rows of weights are an odd number of bf16 cache lines apart")
{
    for (const int inputs : {1, 16, 17, 512, 4096, 9216, 25088}) {
        CHECK(linear_row(inputs) >= inputs);
        CHECK(linear_row(inputs) % 64 == 32);
        CHECK(linear_row(inputs) <= inputs + 63);
    }
}

TEST_CASE("A linear layer's name has the instruction set for its precision")
{
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const auto all = linear_loops_here(precision);
        const std::string name = linear_implementation(precision);
        CHECK(std::ranges::any_of(all, [&](const LinearLoops* loops) { return loops->name == name; }));
    }
    CHECK(linear_implementation(Precision::fp32) == std::string(linear_loops_here(Precision::fp32).front()->name));
}
