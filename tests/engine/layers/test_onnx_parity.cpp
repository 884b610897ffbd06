// Networks of depthwise convolutions, squeeze and excitation and joined maps train by the layers' program, run by plain loops, as
// PyTorch trains them in double precision.
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "tests/engine/reference.hpp"
#include "workloads/model/models.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;
using namespace roof::ir;

namespace {

/// `tolerance` of the second loss: as the CPU engine's (tests/onednn/test_onnx.cpp).
void compare(const model::Graph& graph, const std::string& name, double tolerance)
{
    const engine::Reference reference = engine::Reference::of_family(name);
    using enum model::Optimizer;
    const bool is_adamw = name.ends_with("_adamw");
    HostTraining training(graph, {.batch = 2,
                                  .parameters = engine::Parameters::hashed,
                                  .learning_rate = is_adamw ? 0.001F : 0.01F,
                                  .optimizer = is_adamw ? adamw : sgd});
    CHECK(std::abs(training.differentiate() - reference.at("loss", "0")) < 2e-5);
    int compared = 0;
    for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
        const std::string parameter = graph.parameters()[k].name;
        if (!reference.has("grad_l2", parameter)) continue;
        ++compared;
        INFO(parameter);
        const std::vector<float> gradient = training.gradient(k);
        const double length = reference.at("grad_l2", parameter);
        CHECK(engine::norm(gradient) == Approx(length).epsilon(5e-2));
        CHECK(std::abs(engine::projection(gradient, k) - reference.at("grad_proj", parameter)) < 0.25 * length);
    }
    CHECK(compared == 2);
    training.update();
    CHECK(std::abs(training.differentiate() - reference.at("loss", "1")) < tolerance);
}

void compare(const std::string& name, double tolerance)
{
    compare(model::build_model(std::string(ROOF_TEST_DATA) + "/../model/data/onnx/" + name + ".onnx"), name, tolerance);
}

}  // namespace

TEST_CASE("MobileNetV2 trains by plain loops as in PyTorch")
{
    compare("mobilenet_v2", 5e-2);
}

TEST_CASE("MobileNetV3-Large trains by plain loops as in PyTorch")
{
    compare("mobilenet_v3_large", 2e-5);
}

TEST_CASE("EfficientNet-B0 trains by plain loops as in PyTorch")
{
    compare("efficientnet_b0", 2e-5);
}

TEST_CASE("SqueezeNet 1.1 trains by plain loops as in PyTorch")
{
    compare("squeezenet1_1", 2e-5);
}

TEST_CASE("Layer norms over the channels of maps and of flattened values train by plain loops as in PyTorch")
{
    compare(layer_norm_network(224, 32, 1000), GENERATE("layer_norm", "layer_norm_adamw"), 2e-5);
}

TEST_CASE("Attention among the positions of a map, full and causal, trains by plain loops as in PyTorch")
{
    compare(attention_network(224, 16, 48, 3, 1000), GENERATE("attention", "attention_adamw"), 2e-5);
}

TEST_CASE("A decoder whose last layer reads the embedding's weights trains by plain loops as in PyTorch")
{
    compare(token_network(true, 40, 48, 3, 1000), "tokens", 2e-5);
}

TEST_CASE("Decoders by their config.json train by plain loops as transformers trains them")
{
    const auto [name, tokens] = GENERATE(std::pair{"config_gpt2", 40}, std::pair{"config_llama", 40},
                                         std::pair{"config_mistral", 16}, std::pair{"config_qwen2", 40});
    INFO(name);
    const std::string file = std::string(ROOF_TEST_DATA) + "/data/configs/" + name + ".json";
    compare(model::build_model(file, 1000, tokens), name, 2e-5);
}

TEST_CASE("A vision transformer trains by plain loops as in PyTorch")
{
    compare(vision_network(224, 32, 48, 3, 1000), "vision", 2e-5);
}

TEST_CASE("Blocks of RMS norms, rotary positions, causal attention and gates train by plain loops as in PyTorch")
{
    compare(llama_network(224, 16, 48, 4, 1000), GENERATE("llama", "llama_adamw"), 2e-5);
}

TEST_CASE("SqueezeNet 1.1 with GELUs, exact and by tanh, trains by plain loops as in PyTorch")
{
    compare("squeezenet1_1_gelu", 2e-5);
}
