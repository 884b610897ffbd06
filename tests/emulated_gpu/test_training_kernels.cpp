// The training engine's kernels on the emulated device: each operation of a step, against the host's loops.
#include "tests/emulated_gpu/kernel_comparison.hpp"
#include "tests/engine/layers/small_networks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

using namespace roof;
using namespace roof::cudnn;

namespace {

/// Every kind of layer with a number of channels that no vector divides.
model::Graph odd_network()
{
    const model::Window three{.size = 3, .stride = 1, .padding = 1};
    model::Graph net("odd", {3, 12, 12});
    int x = net.relu("relu1", net.convolution("conv1", 0, 6, three, true));
    x = net.max_pool("pool1", x, {.size = 2, .stride = 2, .padding = 0});
    int y = net.relu("relu2", net.batch_norm("bn2", net.convolution("conv2", x, 6, three, false)));
    y = net.batch_norm("bn3", net.convolution("conv3", y, 6, three, false));
    x = net.relu("end", net.add("add", y, x));
    x = net.dropout("drop", net.flatten("flat", net.average_pool("average", x, 1)), 0.5F);
    net.linear("fc", net.relu("relu4", net.linear("fc1", x, 9)), 7);
    return net;
}

/// Windows that the kernels of pooling are not compiled for.
model::Graph unusual_windows()
{
    model::Graph net("windows", {3, 12, 12});
    int x = net.convolution("conv1", 0, 8, {.size = 3, .stride = 1, .padding = 1}, true);
    x = net.max_pool("pool1", x, {.size = 3, .stride = 1, .padding = 1});
    x = net.max_pool("pool2", x, {.size = 4, .stride = 3, .padding = 1});
    net.linear("fc", net.flatten("flat", x), 7);
    return net;
}

/// The first convolution of AlexNet, with fewer channels.
model::Graph long_stride()
{
    model::Graph net("stride", {3, 31, 31});
    const int x = net.convolution("conv1", 0, 8, {.size = 11, .stride = 4, .padding = 2}, true);
    net.linear("fc", net.flatten("flat", x), 7);
    return net;
}

/// Images of more than three channels.
model::Graph many_colours()
{
    model::Graph net("colours", {7, 6, 6});
    const int x = net.convolution("conv1", 0, 8, {.size = 3, .stride = 1, .padding = 1}, true);
    net.linear("fc", net.flatten("flat", x), 7);
    return net;
}

model::Graph one_pool(int channels, const model::Window& window, bool has_norm)
{
    model::Graph net(has_norm ? "pool behind a batch norm" : "pool", {3, 12, 12});
    int x = net.convolution("conv1", 0, channels, {.size = 3, .stride = 1, .padding = 1}, !has_norm);
    if (has_norm) x = net.relu("relu1", net.batch_norm("bn1", x));
    net.linear("fc", net.flatten("flat", net.max_pool("pool1", x, window)), 7);
    return net;
}

/// More classes than a block's threads take in four turns.
model::Graph many_classes()
{
    model::Graph net("classes", {3, 4, 4});
    net.linear("fc", net.flatten("flat", 0), 1100);
    return net;
}

/// More channels and positions than a block's threads take in one turn.
model::Graph wide_network()
{
    const model::Window one{.size = 1, .stride = 1, .padding = 0};
    model::Graph net("wide", {3, 12, 12});
    const auto normalised = [&](const std::string& name, int from, int channels) {
        return net.batch_norm(name + ".bn", net.convolution(name, from, channels, one, false));
    };
    int x = net.relu("relu", normalised("conv", 0, 72));
    int y = normalised("a.conv", net.relu("a.relu", normalised("a.first", x, 72)), 144);
    x = net.relu("a.end", net.add("a.add", y, normalised("a.shortcut", x, 144)));
    x = net.relu("bias.relu", net.convolution("bias", x, 72, one, true));
    x = net.max_pool("pool", x, {.size = 3, .stride = 2, .padding = 1});
    net.linear("fc", net.relu("relu1", net.linear("fc1", net.flatten("flat", net.average_pool("average", x, 1)), 300)),
               70);
    return net;
}

/// A library computes batch norms forward: the backward pass has no scale and shift, and reads the ReLU's output.
Choosers norms_forward_by_loops()
{
    Choosers choosers = loops(false);
    choosers.norm = [](const NormShape& shape) {
        return Choice{.plan = shape.backward ? -1 : 0, .implementation = "loops", .algorithm = {}};
    };
    return choosers;
}

/// One token of a decoder, the 20th.
model::Graph decoding(const std::string& name)
{
    return model::build_model(std::string(ROOF_TEST_DATA) + "/../engine/data/configs/" + name + ".json", 1000, 20,
                              model::Use::decode);
}

}  // namespace

TEST_CASE("every kernel of a training step gives what the host's loops give, in every precision", "[networks]")
{
    std::set<std::string> kinds;
    int first = 0;
    for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
        int kind = first++;  // another of the three choices for each network, and in each precision
        const model::Window halves{.size = 2, .stride = 2, .padding = 0};
        const model::Window unusual{.size = 3, .stride = 1, .padding = 1};
        for (const model::Graph& graph : {plain_network(),
                                          residual_network(),
                                          bottleneck_network(),
                                          mobile_network(),
                                          squeeze_network(),
                                          layer_norm_network(),
                                          attention_network(),
                                          token_network(true),
                                          token_network(false),
                                          vision_network(),
                                          window_network(),
                                          llama_network(),
                                          decoding("config_gpt2"),
                                          decoding("config_llama"),
                                          decoding("config_mistral"),
                                          odd_network(),
                                          unusual_windows(),
                                          long_stride(),
                                          many_colours(),
                                          many_classes(),
                                          one_pool(8, halves, false),
                                          one_pool(8, unusual, true),
                                          one_pool(6, unusual, true)}) {
            kind = (kind + 1) % 3;
            Choosers choosers = kind == 2 ? norms_forward_by_loops() : loops(kind == 0);
            if (kind == 1) choosers.moments = [](const ConvolutionPass&) { return true; };
            choosers.deep_images = [=](const ConvolutionPass&) { return kind == 0; };
            choosers.outputs_multiple = kind == 0 ? 8 : 1;
            choosers.fuses_positions = kind != 1;
            choosers.attention_blocks = 4 * kind;
            INFO(graph.name() << " " << traits(precision).name << ", choices " << kind);
            emulated::machine().chance().seed(1);
            // Hashed parameters leave dropout out; random ones scale batch norms by 1.
            const auto any = [&graph](const auto& is_one) { return std::ranges::any_of(graph.layers(), is_one); };
            const auto has = [&any](model::LayerKind sought) {
                return any([=](const model::Layer& layer) { return layer.kind == sought; });
            };
            const Settings settings{
                .batch = 3,
                .parameters = has(model::LayerKind::dropout) ? engine::Parameters::random : engine::Parameters::hashed,
                .trains = !any([](const model::Layer& layer) { return layer.cached > 0; }),
                .optimizer = kind == 1 ? model::Optimizer::adamw : model::Optimizer::sgd,
                .precision = precision};
            // Attention takes exponentials of what the loops sum in double.
            Comparison comparison(graph, settings, choosers, has(model::LayerKind::attention) ? 4 : 1);
            comparison.run_step();
            kinds.insert(comparison.kinds().begin(), comparison.kinds().end());
        }
    }
    CHECK(kinds.size() == std::variant_size_v<ir::Operation> - 5);  // all but those of the libraries and of CPUs alone
}

TEST_CASE("the kernels of wide networks give what the host's loops give", "[networks]")
{
    bool is_first = false;
    for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
        bool has_moments = is_first = !is_first;
        // Whole vectors of each token, position and half of a head; patches of 16 and 32 places.
        for (const model::Graph& graph : {wide_network(), llama_network(8, 4, 64, 4), token_network(false, 8, 24, 2),
                                          vision_network(32, 16, 24, 2), vision_network(64, 32, 24, 2)}) {
            has_moments = !has_moments;
            Choosers choosers = loops(false);
            if (has_moments) choosers.moments = [](const ConvolutionPass&) { return true; };
            choosers.deep_images = [=](const ConvolutionPass&) { return has_moments; };
            choosers.fuses_positions = has_moments;
            INFO(graph.name() << " " << traits(precision).name << (has_moments ? ", moments" : ""));
            Comparison comparison(graph, {.batch = 3, .parameters = engine::Parameters::hashed, .precision = precision},
                                  choosers, 5);
            comparison.run_step();
            comparison.update_scaled();
        }
    }
}

TEST_CASE("the loss scale doubles after 2000 updates, and halves after one that is left out", "[kernels][operations]")
{
    const HostTraining host(plain_network(), {.batch = 2, .precision = Precision::fp16}, loops(false));
    const Array<std::byte> device(host.list().bytes);
    const Memory memory(host.list(), device.data());
    const auto after = [&](const StepState& state) {
        REQUIRE(cudaMemcpy(memory.state(), &state, sizeof(state), cudaMemcpyHostToDevice) == cudaSuccess);
        enqueue(Advance{.scaled = true}, memory, nullptr);
        StepState next;
        REQUIRE(cudaMemcpy(&next, memory.state(), sizeof(next), cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(next.finite == 1);
        CHECK(next.step == state.step + 1);
        return std::tuple(next.good, next.skipped, next.loss_scale);
    };
    CHECK(after({.step = 5, .finite = 1, .good = 1997, .skipped = 2, .loss_scale = 64}) ==
          std::tuple(1998U, 2U, 64.0F));
    CHECK(after({.step = 6, .finite = 1, .good = 1998, .skipped = 2, .loss_scale = 64}) ==
          std::tuple(1999U, 2U, 64.0F));
    CHECK(after({.step = 7, .finite = 1, .good = 1999, .skipped = 2, .loss_scale = 64}) == std::tuple(0U, 2U, 128.0F));
    CHECK(after({.step = 8, .finite = 0, .good = 1999, .skipped = 2, .loss_scale = 64}) == std::tuple(0U, 3U, 32.0F));
}

TEST_CASE("a gradient that is not finite is seen at every place of the block, and then nothing is updated",
          "[kernels][operations]")
{
    HostTraining host(plain_network(), {.batch = 2, .precision = Precision::fp16}, loops(false));
    const Program& program = host.list();
    const CheckFinite* check = nullptr;
    const Descend* descend = nullptr;
    for (const Program::Stage& stage : program.stages()) {
        for (const ir::Operation& operation : stage.operations) {
            if (const auto* const found = std::get_if<CheckFinite>(&operation)) check = found;
            if (const auto* const found = std::get_if<Descend>(&operation)) descend = found;
        }
    }
    REQUIRE(check != nullptr);
    REQUIRE(descend != nullptr);
    const std::size_t count = check->gradients.elements();
    const auto run_with = [&](std::size_t place, float gradient) {
        std::fill_n(host.memory().at<float>(check->gradients), count, 1.0F);
        host.memory().at<float>(check->gradients)[place] = gradient;
        host.memory().state()->finite = 1;
        const Array<std::byte> device(std::vector<std::byte>(
            reinterpret_cast<const std::byte*>(host.memory().state()) - program.offset(program.state()),
            reinterpret_cast<const std::byte*>(host.memory().state()) - program.offset(program.state()) +
                host.list().bytes));
        const Memory memory(program, device.data());
        enqueue(*check, memory, nullptr);
        enqueue(*descend, memory, nullptr);
        REQUIRE(emulated::fault_of_pending_work() == "");
        std::vector<std::byte> after = device.values();
        const Memory there(program, after.data());
        const bool is_updated = !std::equal(there.at<float>(descend->values), there.at<float>(descend->values) + count,
                                            host.memory().at<float>(descend->values));
        return std::pair(there.state()->finite != 0, is_updated);
    };
    for (const float gradient : {INFINITY, -INFINITY, NAN}) {
        for (const std::size_t place : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3},
                                        std::size_t{517}, count / 2 + 2, count - 4, count - 3, count - 2, count - 1}) {
            INFO(gradient << " at " << place << " of " << count);
            CHECK(run_with(place, gradient) == std::pair(false, false));
        }
    }
    for (const float gradient : {std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(), 0.0F})
        CHECK(run_with(count - 1, gradient) == std::pair(true, true));
}
