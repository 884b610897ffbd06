// Networks that PyTorch trained from hashed parameters (tests/engine/data), and their comparison with an engine: each
// engine's tests go through the whole table.
#pragma once

#include "tests/engine/layers/small_networks.hpp"
#include "tests/engine/reference.hpp"
#include "workloads/model/models.hpp"
#include "workloads/model/work.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace roof::engine {

struct ParityCase {
    std::string name;  ///< in parity_family.csv
    std::function<model::Graph()> graph;
    double tolerance = 2e-5;  ///< of the losses after updates: four times the spread of PyTorch's fp32 variants
    int losses = 5;           ///< that are compared; the third shows the momentum
    bool is_large = false;    ///< plain loops would take minutes
    model::Optimizer optimizer = model::Optimizer::sgd;

    float learning_rate() const { return optimizer == model::Optimizer::sgd ? 0.01F : 0.001F; }
};

/// `data`: the folder `tests`.
inline std::vector<ParityCase> parity_cases(const std::string& data)
{
    using namespace ir;
    const auto onnx = [&](const std::string& name, double tolerance, bool is_large, int losses = 2) {
        const std::string file = data + "/model/data/onnx/" + name + ".onnx";
        return ParityCase{name, [file] { return model::build_model(file); }, tolerance, losses, is_large};
    };
    const auto exported = [&](const std::string& name, bool is_large) { return onnx(name, 1e-4, is_large, 5); };
    const auto decoder = [&](const std::string& name, int tokens) {
        const std::string file = data + "/engine/data/configs/" + name + ".json";
        return ParityCase{name, [file, tokens] { return model::build_model(file, 1000, tokens); }, 1e-6};
    };
    std::vector<ParityCase> all{{"tokens", [] { return token_network(true, 40, 48, 3, 1000); }},
                                {"vision", [] { return vision_network(224, 32, 48, 3, 1000); }},
                                {"gpt2", [] { return model::build_model("gpt2", 1000, 64); }, 1e-4, 2, true},
                                {"vit_b_16", [] { return model::build_model("vit_b_16"); }, 1e-4, 2, true},
                                decoder("config_gpt2", 40),
                                decoder("config_llama", 40),
                                decoder("config_mistral", 16),
                                decoder("config_qwen2", 40),
                                onnx("mobilenet_v2", 5e-2, false),        // depthwise convolutions and ReLU6
                                onnx("squeezenet1_1", 2e-5, false),       // concatenations, and pools in ceil mode
                                onnx("squeezenet1_1_gelu", 2e-5, false),  // exact, and by tanh
                                onnx("mobilenet_v3_large", 2e-5, false),  // hard swish, squeeze and excitation
                                onnx("efficientnet_b0", 2e-5, false),     // SiLU and sigmoids
                                onnx("resnext50_32x4d", 2e-5, true),      // grouped convolutions
                                exported("vit_traced", false),
                                exported("vit_dynamo", false),
                                exported("deit_dynamo", false),
                                exported("bert_traced", false),
                                exported("bert_dynamo", false),
                                exported("convnext", false),
                                exported("swin_traced", false),
                                onnx("inception", 2e-5, true, 1),  // later losses: 0.13 from fp64 in PyTorch's fp32
                                exported("fcn", true)};
    for (const model::Optimizer optimizer : {model::Optimizer::sgd, model::Optimizer::adamw}) {
        const std::string end = optimizer == model::Optimizer::sgd ? "" : "_adamw";
        for (const ParityCase& one : {ParityCase{"layer_norm", [] { return layer_norm_network(224, 32, 1000); }},
                                      ParityCase{"attention", [] { return attention_network(224, 16, 48, 3, 1000); }},
                                      ParityCase{"llama", [] { return llama_network(224, 16, 48, 4, 1000); }}}) {
            all.push_back(one);
            all.back().name += end;
            all.back().optimizer = optimizer;
        }
    }
    return all;
}

/// Compares the first loss, the gradients of the first and the last weight, and the losses after updates, as far as the
/// reference has them. `least_tolerance`: of the losses after updates, for an engine that adds in another order.
template <class Training>
void compare_with_pytorch(const ParityCase& one, const model::Graph& graph, Training& training, int losses,
                          double least_tolerance = 0)
{
    const Reference reference = Reference::of_family(one.name);
    CHECK(std::abs(training.differentiate() - reference.at("loss", "0")) < 2e-5);
    int compared = 0;
    for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
        const std::string parameter = graph.parameters()[k].name;
        if (!reference.has("grad_l2", parameter)) continue;
        ++compared;
        INFO(parameter);
        const std::vector<float> gradient = training.gradient(k);
        const double length = reference.at("grad_l2", parameter);
        CHECK(norm(gradient) == Approx(length).epsilon(5e-2));
        CHECK(std::abs(projection(gradient, k) - reference.at("grad_proj", parameter)) < 0.25 * length);
    }
    CHECK(compared == 2);
    for (int step = 1; step < losses && reference.has("loss", std::to_string(step)); ++step) {
        INFO("step " << step);
        training.update();
        const bool is_last = step + 1 == losses;
        const double loss = is_last ? training.loss() : training.differentiate();
        CHECK(std::abs(loss - reference.at("loss", std::to_string(step))) < std::max(one.tolerance, least_tolerance));
    }
}

}  // namespace roof::engine
