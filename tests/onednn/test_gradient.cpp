// The backward pass, compared with the forward pass: a step along a parameter's gradient g changes the loss by |g| per
// unit.
#include "tests/onednn/hashed_training.hpp"
#include "tests/onednn/network_values.hpp"
#include "workloads/model/hashed.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::onednn;

namespace {

constexpr int batch = 4;

/// Every kind of layer, and two cases that the known models lack: a ReLU that cannot be fused because two layers read
/// its input, and a residual sum without a ReLU.
model::Graph small_network()
{
    model::Graph net("small", {3, 12, 12});
    const int stem = net.relu("r1", net.convolution("c1", 0, 16, {.size = 3, .stride = 1, .padding = 1}, true));
    const int branch =
        net.batch_norm("n1", net.convolution("c2", stem, 16, {.size = 3, .stride = 1, .padding = 1}, false));
    const int sum = net.add("a1", branch, stem);
    const int lone = net.relu("r2", sum);
    const int pooled = net.max_pool("p1", net.add("a2", lone, sum), {.size = 3, .stride = 2, .padding = 1});
    const int norm = net.relu("r3", net.batch_norm("n2", pooled));
    const int average = net.average_pool("p2", norm, 1);
    const int hidden = net.relu("r4", net.linear("l1", net.flatten("f", average), 24));
    net.linear("l2", net.dropout("d", hidden, 0.5F), 10);
    return net;
}

/// The kinds that only networks from files have: squeeze and excitation, slices (one of which nothing else completes),
/// a shuffle, a dilated window, and a linear layer without bias.
model::Graph gated_network()
{
    using model::LayerKind;
    model::Graph net("gated", {3, 12, 12});
    const model::Window three{.size = 3, .stride = 1, .padding = 2, .dilation = 2};
    const int stem = net.activation(LayerKind::hard_swish, "h1", net.convolution("c1", 0, 20, three, true));
    const int squeezed = net.convolution("c2", net.average_pool("p1", stem, 1), 20, {}, true);
    const int first = net.multiply("m1", stem, net.activation(LayerKind::sigmoid, "g1", squeezed));
    const int second = net.multiply("m2", first, net.activation(LayerKind::hard_sigmoid, "g2", squeezed));
    std::vector<int> order;
    for (int channel = 0; channel < 20; ++channel) order.push_back(channel % 2 * 10 + channel / 2);
    const int mixed = net.shuffle("s1", second, order);
    const int left = net.slice("s2", mixed, 0, 8);
    const int right = net.activation(LayerKind::silu, "h2", net.slice("s3", mixed, 8, 12));
    const int joined = net.concat("j1", {right, left});
    const int branch = net.activation(LayerKind::silu, "h3", net.convolution("c3", joined, 20, {}, false));
    const int product = net.multiply("m3", branch, joined);
    const int part = net.slice("s4", product, 4, 9);
    const int features =
        net.flatten("f", net.average_pool("p2", net.add("a1", part, net.slice("s5", product, 0, 9)), 1));
    net.linear("l2", net.relu("r1", net.linear("l1", features, 16, false)), 10);
    return net;
}

void check_slopes(const model::Graph& graph)
{
    Network network(graph, {.batch = batch, .threads = 2, .parameters = Parameters::hashed});
    const Clock stopped = [] { return Seconds{}; };
    Trace trace(stopped, network.parts().size());
    std::vector<float> images(static_cast<std::size_t>(batch * graph.layer(0).output.elements()));
    model::hashed_input().fill(images);
    const std::vector<int> labels{1, 3, 5, 9};

    network.forward(images.data(), labels.data(), trace);
    network.backward(trace);
    std::vector<std::vector<float>> gradients;
    for (std::size_t k = 0; k < network.parameters().size(); ++k) gradients.push_back(gradient_of(network, k));

    for (std::size_t k = 0; k < gradients.size(); ++k) {
        const std::vector<float> start = value_of(network, k);
        const double slope = norm(gradients[k]);
        const auto loss_at = [&](double distance) {
            network.set(k, [&](std::span<float> values, std::size_t first) {
                for (std::size_t i = 0; i < values.size(); ++i) {
                    values[i] = static_cast<float>(start[first + i] + distance * gradients[k][first + i] / slope);
                }
            });
            return network.forward(images.data(), labels.data(), trace);
        };
        constexpr double reach = 4e-3;
        const double measured = (loss_at(reach) - loss_at(-reach)) / (2 * reach);
        loss_at(0);
        INFO(network.parameters()[k].name << ": slope " << slope);
        CHECK(measured == Approx(slope).epsilon(0.03).margin(2e-4));
    }
}

}  // namespace

TEST_CASE("Every parameter's gradient is the slope of the loss")
{
    check_slopes(small_network());
}

TEST_CASE("So it is with activations, products, slices, shuffles and dilation")
{
    check_slopes(gated_network());
}
