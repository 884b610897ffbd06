// The loops of linear layers, of every instruction set this machine has, against sums in double.
#include "workloads/model/hashed.hpp"
#include "workloads/onednn/loops/linear/isa.hpp"
#include "workloads/onednn/settings.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace roof;
using namespace roof::onednn;

namespace {

/// The matrices of a layer of that shape, filled with hashes.
struct Layer {
    explicit Layer(const LinearShape& of)
        : shape(of),
          w(filled(1, static_cast<std::size_t>(of.outputs) * static_cast<std::size_t>(of.row))),
          x(filled(2, static_cast<std::size_t>(of.batch) * static_cast<std::size_t>(of.inputs))),
          dy(filled(3, static_cast<std::size_t>(of.batch) * static_cast<std::size_t>(of.outputs))),
          bias(filled(4, static_cast<std::size_t>(of.outputs))),
          halves(w.size())
    {
        for (std::size_t i = 0; i < w.size(); ++i) narrow(w[i], halves[i]);
    }

    static std::vector<float> filled(std::uint32_t seed, std::size_t count)
    {
        std::vector<float> values(count);
        model::HashedFill{.seed = seed, .scale = 2, .offset = 0}.fill(values);
        return values;
    }
    Elements weights(Precision precision)
    {
        return {precision == Precision::bf16 ? static_cast<void*>(halves.data()) : w.data(), precision};
    }
    double weight(Precision precision, int o, int i) const
    {
        const auto at = static_cast<std::size_t>(o * shape.row + i);
        return precision == Precision::bf16 ? widen(halves[at]) : w[at];
    }
    double value(int n, int i) const { return x[static_cast<std::size_t>(n * shape.inputs + i)]; }
    double slope(int n, int o) const { return dy[static_cast<std::size_t>(n * shape.outputs + o)]; }

    LinearShape shape;
    std::vector<float> w, x, dy, bias;
    std::vector<BFloat16> halves;
};

std::vector<LinearLoops> loops_here()
{
    std::vector<LinearLoops> all{linear_sse};
    if (__builtin_cpu_supports("x86-64-v3")) all.push_back(linear_avx2);
    if (__builtin_cpu_supports("x86-64-v4")) all.push_back(linear_avx512);
    return all;
}

/// Whole tiles, rests of every kind, a batch too large for the scratch memory, and one that needs several chunks of columns.
const std::vector<LinearShape> shapes{{.batch = 4, .inputs = 128, .outputs = 12},
                                      {.batch = 7, .inputs = 83, .outputs = 11},
                                      {.batch = 1, .inputs = 5, .outputs = 1},
                                      {.batch = 64, .inputs = 2100, .outputs = 9},
                                      {.batch = 1100, .inputs = 70, .outputs = 7}};

constexpr double accepted = 1e-5;  ///< of sums of products of numbers below 1, per root of their count

}  // namespace

TEST_CASE("A linear layer's forward pass and its gradients are sums of products")
{
    for (const LinearLoops& loops : loops_here()) {
        for (const LinearShape& shape : shapes) {
            for (const Precision precision : {Precision::fp32, Precision::bf16}) {
                INFO(loops.name << ' ' << shape.batch << ' ' << shape.inputs << ' ' << shape.outputs);
                Layer layer(shape);
                std::vector<float> y(layer.dy.size());
                std::vector<float> dx(layer.x.size(), NAN);
                const int half = shape.outputs / 2;
                loops.forward(shape, layer.weights(precision), layer.x.data(), y.data(), {0, half});
                loops.forward(shape, layer.weights(precision), layer.x.data(), y.data(), {half, shape.outputs});
                loops.backward_data(shape, layer.weights(precision), layer.dy.data(), dx.data(), {0, shape.inputs});
                double worst = 0;
                for (int n = 0; n < shape.batch; n += 1 + shape.batch / 9) {
                    for (int o = 0; o < shape.outputs; ++o) {
                        double sum = 0;
                        for (int i = 0; i < shape.inputs; ++i) sum += layer.weight(precision, o, i) * layer.value(n, i);
                        worst = std::max(worst, std::abs(sum - y[static_cast<std::size_t>(n * shape.outputs + o)]));
                    }
                    for (int i = 0; i < shape.inputs; ++i) {
                        double sum = 0;
                        for (int o = 0; o < shape.outputs; ++o)
                            sum += layer.weight(precision, o, i) * layer.slope(n, o);
                        const double error = std::abs(sum - dx[static_cast<std::size_t>(n * shape.inputs + i)]);
                        worst = std::isnan(error) ? 1 : std::max(worst, error);
                    }
                }
                CHECK(worst < accepted * std::sqrt(shape.inputs));
            }
        }
    }
}

TEST_CASE("A linear layer's update is gradient descent with its gradient")
{
    constexpr float rate = 0.1F;
    for (const LinearLoops& loops : loops_here()) {
        for (const LinearShape& shape : shapes) {
            INFO(loops.name << ' ' << shape.batch << ' ' << shape.inputs << ' ' << shape.outputs);
            Layer layer(shape);
            const Layer before(shape);
            std::vector<float> m = Layer::filled(5, layer.w.size());
            const std::vector<float> m_before = m;
            const LinearTrained trained{layer.w.data(), m.data(), layer.halves.data()};
            loops.update(shape, layer.x.data(), layer.dy.data(), rate, trained, {0, shape.outputs});
            double worst = 0;
            for (int o = 0; o < shape.outputs; ++o) {
                for (int i = 0; i < shape.inputs; ++i) {
                    const auto at = static_cast<std::size_t>(o * shape.row + i);
                    double gradient = 0;
                    for (int n = 0; n < shape.batch; ++n) gradient += layer.value(n, i) * layer.slope(n, o);
                    const double momentum_then =
                        momentum * double{m_before[at]} + gradient + weight_decay * double{before.w[at]};
                    worst = std::max({worst, std::abs(m[at] - momentum_then),
                                      std::abs(layer.w[at] - (double{before.w[at]} - rate * momentum_then))});
                    BFloat16 copy;
                    narrow(layer.w[at], copy);
                    CHECK(layer.halves[at].bits == copy.bits);
                }
            }
            CHECK(worst < accepted * std::sqrt(shape.batch));
        }
    }
}

TEST_CASE("The whole layer, in threads, adds the bias and clips")
{
    Layer layer({.batch = 3, .inputs = 33, .outputs = 150});
    std::vector<float> y(layer.dy.size());
    std::vector<float> clipped(layer.dy.size());
    linear_forward(layer.shape, layer.weights(Precision::fp32), layer.bias.data(), layer.x.data(), y.data(), false);
    linear_forward(layer.shape, layer.weights(Precision::fp32), layer.bias.data(), layer.x.data(), clipped.data(),
                   true);
    double sum = layer.bias[149];
    for (int i = 0; i < 33; ++i) sum += layer.weight(Precision::fp32, 149, i) * layer.value(2, i);
    CHECK(y.back() == Approx(sum).margin(1e-5));
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(clipped[i] == std::max(y[i], 0.0F));

    std::vector<float> db(150);
    linear_backward_bias(layer.shape, layer.dy.data(), db.data());
    CHECK(db[149] == Approx(layer.slope(0, 149) + layer.slope(1, 149) + layer.slope(2, 149)));
}

TEST_CASE("Rows of weights lie an odd number of cache lines apart")
{
    for (const int inputs : {1, 16, 17, 512, 4096, 9216, 25088}) {
        CHECK(linear_row(inputs) >= inputs);
        CHECK(linear_row(inputs) % 32 == 16);
        CHECK(linear_row(inputs) <= inputs + 31);
    }
}
