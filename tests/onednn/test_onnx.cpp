// Networks from ONNX files train as PyTorch trains them: the losses of five steps from hashed parameters.
#include "tests/onednn/hashed_training.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace roof;
using namespace roof::onednn;

namespace {

std::string file_of(const std::string& model)
{
    return std::string(ROOF_TEST_DATA) + "/../model/data/onnx/" + model + ".onnx";
}

/// `tolerance`: four times the spread of PyTorch's fp32 variants after five steps.
void compare(const std::string& model, double tolerance)
{
    INFO(model);
    constexpr double first_tolerance = 2e-5;
    const Reference reference = Reference::of_family(model);
    HashedTraining training(file_of(model));
    for (int step = 0; step < 5; ++step) {
        INFO("step " << step);
        const double due = reference.at("loss", std::to_string(step));
        const double loss = training.differentiate();
        CHECK(std::abs(loss - due) < (step == 0 ? first_tolerance : tolerance));
        training.update();
    }
}

/// The gradients of all parameters after one step; `is_used`: an implementation has `mark` in its name.
std::vector<std::vector<float>> gradients_of(const model::Graph& graph, Algorithm algorithm, const std::string& mark,
                                             bool& is_used)
{
    constexpr int batch = 3;
    Network network(graph, {.batch = batch, .threads = 2, .parameters = Parameters::hashed, .algorithm = algorithm});
    const Clock stopped = [] { return Seconds{}; };
    Trace trace(stopped, network.parts().size());
    const model::Shape shape = graph.layer(0).output;
    std::vector<float> images(static_cast<std::size_t>(batch * shape.channels * shape.height * shape.width));
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = 0.1F * static_cast<float>(i % 7);
    const std::vector<int> labels{0, 2, 4};
    network.forward(images.data(), labels.data(), trace);
    network.backward(trace);
    std::vector<std::vector<float>> all;
    for (std::size_t k = 0; k < network.parameters().size(); ++k) all.push_back(network.gradient(k));
    is_used = std::ranges::any_of(
        network.parts(), [&](const TimedPart& part) { return part.implementation.find(mark) != std::string::npos; });
    return all;
}

}  // namespace

TEST_CASE("MobileNetV2, of depthwise convolutions and ReLU6, trains as in PyTorch over five steps")
{
    compare("mobilenet_v2", 5e-2);
}

TEST_CASE("SqueezeNet, of concatenations and pools in ceil mode, trains as in PyTorch over five steps")
{
    compare("squeezenet1_1", 2e-5);
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
        const std::vector<float> gradient = network.gradient(k);
        const double length = reference.at("grad_l2", name);
        CHECK(engine::norm(gradient) == Approx(length).epsilon(5e-2));
        CHECK(std::abs(engine::projection(gradient, k) - reference.at("grad_proj", name)) < 0.25 * length);
    }
}

TEST_CASE("The gradients of depthwise weights by this project's kernel are oneDNN's")
{
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
        bool is_ours = false;
        const auto gradients = [&](Algorithm algorithm) {
            auto all = gradients_of(graph, algorithm, "roof:depthwise", is_ours);
            CHECK(is_ours == (algorithm == Algorithm::direct));
            return std::vector(all.begin() + 2, all.end() - 2);
        };
        const auto ours = gradients(Algorithm::direct);
        const auto theirs = gradients(Algorithm::gemm);
        REQUIRE(ours.size() == (bias ? 2U : 1U));
        for (std::size_t k = 0; k < ours.size(); ++k) {
            for (std::size_t i = 0; i < ours[k].size(); ++i) CHECK(ours[k][i] == Approx(theirs[k][i]).margin(2e-6));
        }
    }
}

TEST_CASE("Merged groups give the results and the gradients of the groups")
{
    struct Case {
        int channels, groups, window, stride;
        bool bias;
    };
    for (const auto& [channels, groups, window, stride, bias] :
         {Case{32, 8, 3, 1, false}, Case{64, 8, 3, 2, true}, Case{96, 24, 1, 1, true}}) {
        INFO(channels << " channels, " << groups << " groups, window " << window << ", stride " << stride);
        model::Graph graph("grouped", {3, 14, 14});
        const int stem = graph.convolution("stem", 0, channels, {.size = 1}, true);
        const model::Window of{.size = window, .stride = stride, .padding = window / 2};
        const int grouped = graph.convolution("grouped", stem, channels, of, bias, groups);
        graph.linear("end", graph.flatten("flat", graph.relu("relu", grouped)), 5);
        bool is_merged = false;
        const auto ours = gradients_of(graph, Algorithm::direct, "roof:groups", is_merged);
        CHECK(is_merged);
        const auto theirs = gradients_of(graph, Algorithm::gemm, "roof:groups", is_merged);
        CHECK_FALSE(is_merged);
        for (std::size_t k = 0; k < ours.size(); ++k) {
            INFO("parameter " << k);
            REQUIRE(ours[k].size() == theirs[k].size());
            CHECK(engine::norm(theirs[k]) > 0);
            for (std::size_t i = 0; i < ours[k].size(); ++i)
                CHECK(ours[k][i] == Approx(theirs[k][i]).epsilon(1e-4).margin(1e-5));
        }
    }
}
