// Networks from ONNX files and written as text train as PyTorch trains them: the losses of five steps from hashed parameters.
#include "tests/onednn/hashed_training.hpp"
#include "tests/onednn/network_values.hpp"
#include "tests/skip.hpp"
#include "workloads/kernels/convolution.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;
using namespace roof::onednn;

namespace {

std::string file_of(const std::string& model)
{
    return std::string(ROOF_TEST_DATA) + "/../model/data/onnx/" + model + ".onnx";
}

/// `tolerance`: four times the spread of PyTorch's fp32 variants after five steps.
void compare(const std::string& model, const std::string& network, double tolerance, int tokens = 0)
{
    INFO(model);
    constexpr double first_tolerance = 2e-5;
    const Reference reference = Reference::of_family(model);
    using enum model::Optimizer;
    HashedTraining training(network, {.optimizer = model.ends_with("_adamw") ? adamw : sgd}, tokens);
    for (int step = 0; step < 5; ++step) {
        INFO("step " << step);
        const double due = reference.at("loss", std::to_string(step));
        const double loss = training.differentiate();
        CHECK(std::abs(loss - due) < (step == 0 ? first_tolerance : tolerance));
        training.update();
    }
}

void compare(const std::string& model, double tolerance)
{
    compare(model, file_of(model), tolerance);
}

}  // namespace

TEST_CASE("Layer norms over the channels of maps and of flattened values train as in PyTorch over five steps")
{
    const auto block = [](const std::string& name, const std::string& from, const std::string& channels,
                          const std::string& wide) {
        return "{convolution: {from: " + from + ", channels: " + channels +
               ", window: 5, padding: 2, groups: " + channels +
               "}}, {layer_norm: {epsilon: 1e-6}}, {convolution: {channels: " + wide +
               ", window: 1}}, gelu, {convolution: {name: " + name + ", channels: " + channels +
               ", window: 1}}, {add: {from: [" + name + ", " + from + "]}}, ";
    };
    const auto model = GENERATE("layer_norm", "layer_norm_adamw");
    compare(model,
            "{name: layer_norm, image: [3, 224, 224], layers: [{convolution: {channels: 32, window: 4, stride: 4}}, "
            "{layer_norm: {name: stem}}, " +
                block("a", "stem", "32", "64") +
                "layer_norm, {convolution: {name: down, channels: 64, window: 2, stride: 2}}, " +
                block("b", "down", "64", "128") +
                "layer_norm, relu, average_pool, flatten, {layer_norm: {epsilon: 1e-6}}, {linear: {features: 1000}}]}",
            2e-5);
}

TEST_CASE("Attention among the positions of a map, full and causal, trains as in PyTorch over five steps")
{
    const auto block = [](const std::string& name, const std::string& from, const std::string& causal) {
        return "{layer_norm: {from: " + from +
               "}}, {convolution: {channels: 144, window: 1}}, {attention: {heads: 3, causal: " + causal +
               "}}, {convolution: {name: " + name + "1, channels: 48, window: 1}}, {add: {name: " + name +
               "2, from: [" + name + "1, " + from +
               "]}}, layer_norm, {convolution: {channels: 96, window: 1}}, gelu, {convolution: {name: " + name +
               "3, channels: 48, window: 1}}, {add: {name: " + name + ", from: [" + name + "3, " + name + "2]}}, ";
    };
    const auto model = GENERATE("attention", "attention_adamw");
    compare(model,
            "{name: attention, image: [3, 224, 224], layers: [{convolution: {name: stem, channels: 48, window: 16, "
            "stride: 16}}, " +
                block("a", "stem", "false") + block("b", "a", "true") +
                "layer_norm, average_pool, flatten, {linear: {features: 1000}}]}",
            2e-5);
}

TEST_CASE("A decoder whose last layer reads the embedding's weights trains as in PyTorch over five steps")
{
    const auto block = [](const std::string& name, const std::string& from) {
        return "{layer_norm: {from: " + from +
               "}}, {linear: {features: 144, each_position: true}}, {attention: {heads: 3, causal: true}}, {linear: "
               "{name: " +
               name + "1, features: 48, each_position: true}}, {add: {name: " + name + "2, from: [" + name + "1, " +
               from +
               "]}}, layer_norm, {linear: {features: 96, each_position: true}}, gelu_tanh, {linear: {name: " + name +
               "3, features: 48, each_position: true}}, {add: {name: " + name + ", from: [" + name + "3, " + name +
               "2]}}, ";
    };
    compare("tokens",
            "{name: tokens, image: [1, 1, 40], layers: [{embedding: {name: wte, vocabulary: 1000, channels: 48}}, "
            "{positions: {name: wpe}}, " +
                block("a", "wpe") + block("b", "a") +
                "layer_norm, {linear: {features: 1000, bias: false, weights_of: wte}}]}",
            2e-5);
}

TEST_CASE("GPT-2 trains as in PyTorch over five steps")
{
    compare("gpt2", "gpt2", 1e-4, 64);
}

TEST_CASE("Decoders by their config.json train as in transformers over five steps")
{
    const auto [name, tokens] = GENERATE(std::pair{"config_gpt2", 40}, std::pair{"config_llama", 40},
                                         std::pair{"config_mistral", 16}, std::pair{"config_qwen2", 40});
    compare(name, std::string(ROOF_TEST_DATA) + "/../engine/data/configs/" + name + ".json", 1e-6, tokens);
}

TEST_CASE("ViT-B/16 trains as in PyTorch over five steps")
{
    compare("vit_b_16", "vit_b_16", 1e-4);
}

TEST_CASE("Blocks of RMS norms, rotary positions, causal attention and gates train as in PyTorch over five steps")
{
    const auto model = GENERATE("llama", "llama_adamw");
    const auto product = [](const std::string& name, const std::string& from, int channels) {
        return "{convolution: {name: " + name + (from.empty() ? "" : ", from: " + from) +
               ", channels: " + std::to_string(channels) + ", window: 1, bias: false}}, ";
    };
    const auto block = [&](const std::string& name, const std::string& from) {
        return "{rms_norm: {from: " + from + "}}, " + product(name + "0", "", 96) +
               "{rope: {heads: 4, kv_heads: 2}}, {attention: {heads: 4, kv_heads: 2, causal: true}}, " +
               product(name + "1", "", 48) + "{add: {name: " + name + "2, from: [" + name + "1, " + from +
               "]}}, {rms_norm: {name: " + name + "3}}, " + product(name + "4", "", 96) + "{silu: {name: " + name +
               "5}}, " + product(name + "6", name + "3", 96) + "{multiply: {from: [" + name + "5, " + name + "6]}}, " +
               product(name + "7", "", 48) + "{add: {name: " + name + ", from: [" + name + "7, " + name + "2]}}, ";
    };
    compare(model,
            "{name: llama, image: [3, 224, 224], layers: [{convolution: {name: stem, channels: 48, window: 16, "
            "stride: 16}}, " +
                block("a", "stem") + block("b", "a") + "rms_norm, average_pool, flatten, {linear: {features: 1000}}]}",
            2e-5);
}

TEST_CASE("MobileNetV2, of depthwise convolutions and ReLU6, trains as in PyTorch over five steps")
{
    compare("mobilenet_v2", 5e-2);
}

TEST_CASE("SqueezeNet, of concatenations and pools in ceil mode, trains as in PyTorch over five steps")
{
    compare("squeezenet1_1", 2e-5);
}

TEST_CASE("SqueezeNet with GELUs, exact and by tanh, trains as in PyTorch over five steps")
{
    compare("squeezenet1_1_gelu", 2e-5);
}

TEST_CASE("MobileNetV3-Large, of hard swish and squeeze and excitation, trains as in PyTorch over five steps")
{
    compare("mobilenet_v3_large", 2e-5);
}

TEST_CASE("EfficientNet-B0, of SiLU and sigmoids, trains as in PyTorch over five steps")
{
    compare("efficientnet_b0", 2e-5);
}

TEST_CASE("ResNeXt-50, of grouped convolutions, has PyTorch's first loss and gradients")
{
    const Reference reference = Reference::of_family("resnext50_32x4d");
    HashedTraining training(file_of("resnext50_32x4d"));
    CHECK(std::abs(training.differentiate() - reference.at("loss", "0")) < 2e-5);
    const Network& network = training.network();
    for (std::size_t k = 0; k < network.parameters().size(); ++k) {
        const std::string& name = network.parameters()[k].name;
        if (!reference.has("grad_l2", name)) continue;
        INFO(name);
        const std::vector<float> gradient = gradient_of(network, k);
        const double length = reference.at("grad_l2", name);
        CHECK(engine::norm(gradient) == Approx(length).epsilon(5e-2));
        CHECK(std::abs(engine::projection(gradient, k) - reference.at("grad_proj", name)) < 0.25 * length);
    }
}

TEST_CASE("The gradients of depthwise weights by this project's kernel are oneDNN's")
{
    if (kernels::convolution_lanes() == 0) return skip("there are no convolution kernels for this processor");
    struct Case {
        int channels, window, stride, padding;
        bool bias;
    };
    for (const auto& [channels, window, stride, padding, bias] :
         {Case{20, 5, 1, 2, true}, Case{32, 5, 2, 2, false}, Case{16, 3, 2, 1, true}, Case{17, 7, 1, 0, false}}) {
        INFO(channels << " channels, window " << window << ", stride " << stride);
        model::Graph graph("deep", {3, 15, 13});
        const int stem = graph.convolution("stem", 0, channels, {.size = 1}, true);
        const model::Window of{.size = window, .stride = stride, .padding = padding};
        const int deep = graph.convolution("deep", stem, channels, of, bias, channels);
        graph.linear("end", graph.flatten("flat", graph.relu("relu", deep)), 5);
        const auto gradients = [&](Algorithm algorithm) {
            Network network(graph,
                            {.batch = 3, .threads = 2, .parameters = Parameters::hashed, .algorithm = algorithm});
            const Clock stopped = [] { return Seconds{}; };
            Trace trace(stopped, network.parts().size());
            const std::vector<float> images(std::size_t{3 * 3 * 15 * 13}, 0.5F);
            const std::vector<int> labels{0, 2, 4};
            network.forward(images.data(), labels.data(), trace);
            network.backward(trace);
            std::vector<std::vector<float>> all;
            for (std::size_t k = 2; k < network.parameters().size() - 2; ++k) all.push_back(gradient_of(network, k));
            bool is_ours = false;
            for (const TimedPart& part : network.parts())
                is_ours = is_ours || part.implementation.find("roof:depthwise") != std::string::npos;
            CHECK(is_ours == (algorithm == Algorithm::direct));
            return all;
        };
        const auto ours = gradients(Algorithm::direct);
        const auto theirs = gradients(Algorithm::gemm);
        REQUIRE(ours.size() == (bias ? 2U : 1U));
        for (std::size_t k = 0; k < ours.size(); ++k) {
            for (std::size_t i = 0; i < ours[k].size(); ++i) CHECK(ours[k][i] == Approx(theirs[k][i]).margin(2e-6));
        }
    }
}
