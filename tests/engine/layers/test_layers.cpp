// Layers that read PyTorch's order of a flattened map's values get it: losses and gradients by hand, from PyTorch's
// layouts.
#include "ert/base/files.hpp"
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "workloads/model/hashed.hpp"
#include "workloads/model/models.hpp"
#include "workloads/onednn/step.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

#include <cmath>
#include <filesystem>

using namespace roof;
using namespace roof::ir;
using model::Graph;

namespace {

constexpr int batch = 2;
using Numbers = std::vector<double>;

/// The images in PyTorch's order, one after the other.
std::vector<float> images_of(const Graph& graph)
{
    std::vector<float> images(static_cast<std::size_t>(batch * graph.layer(0).output.elements()));
    model::hashed_input().fill(images);
    return images;
}

std::vector<float> parameter_of(const Graph& graph, std::size_t k)
{
    std::vector<float> values(static_cast<std::size_t>(graph.parameters()[k].elements()));
    model::hashed_parameter(graph, static_cast<int>(k)).fill(values);
    return values;
}

/// Returns the loss of the logits [n][class]; they become their gradients.
double differentiate_loss(std::vector<Numbers>& logits)
{
    double loss = 0;
    for (std::size_t n = 0; n < logits.size(); ++n) {
        Numbers& row = logits[n];
        const auto label =
            static_cast<std::size_t>(model::hashed_label(static_cast<int>(n), static_cast<int>(row.size())));
        double sum = 0;
        for (const double one : row) sum += std::exp(one);
        loss += std::log(sum) - row[label];
        for (double& one : row) one = std::exp(one) / sum;
        row[label] -= 1;
        for (double& one : row) one /= static_cast<double>(logits.size());
    }
    return loss / static_cast<double>(logits.size());
}

void check_same(const std::vector<float>& found, const Numbers& due)
{
    REQUIRE(found.size() == due.size());
    for (std::size_t k = 0; k < due.size(); ++k) CHECK(found[k] == Approx(due[k]).margin(1e-6));
}

HostTraining training_of(const Graph& graph)
{
    return HostTraining(graph, {.batch = batch, .parameters = engine::Parameters::hashed});
}

}  // namespace

TEST_CASE("A slice and a linear layer of one flattened map read the values that they read in PyTorch")
{
    constexpr std::size_t features = 12;
    constexpr std::size_t first = 5;
    constexpr std::size_t classes = 4;
    Graph net("slice", {3, 2, 2});
    const int flat = net.relu("relu", net.flatten("flat", 0));
    net.add("sum", net.linear("fc", flat, classes), net.slice("cut", flat, first, classes));

    const std::vector<float> images = images_of(net);
    const std::vector<float> weights = parameter_of(net, 0);
    const std::vector<float> bias = parameter_of(net, 1);
    const auto input = [&](std::size_t n, std::size_t i) {
        return std::max(0.0, static_cast<double>(images[n * features + i]));
    };
    std::vector<Numbers> logits(batch, Numbers(classes));
    for (std::size_t n = 0; n < batch; ++n)
        for (std::size_t o = 0; o < classes; ++o) {
            logits[n][o] = bias[o] + input(n, first + o);
            for (std::size_t i = 0; i < features; ++i) logits[n][o] += weights[o * features + i] * input(n, i);
        }
    const double loss = differentiate_loss(logits);
    Numbers gradient(classes * features);
    for (std::size_t n = 0; n < batch; ++n)
        for (std::size_t o = 0; o < classes; ++o)
            for (std::size_t i = 0; i < features; ++i) gradient[o * features + i] += logits[n][o] * input(n, i);

    HostTraining training = training_of(net);
    CHECK(training.differentiate() == Approx(loss).epsilon(1e-6));
    check_same(training.gradient(0), gradient);
}

TEST_CASE("The classes of a network that ends in a flattened map are in PyTorch's order")
{
    constexpr std::size_t channels = 2;
    constexpr std::size_t places = 4;
    Graph net("map", {3, 2, 2});
    net.flatten("flat", net.convolution("conv", 0, channels, {.size = 1, .stride = 1, .padding = 0}, true));

    const std::vector<float> images = images_of(net);
    const std::vector<float> weights = parameter_of(net, 0);
    const std::vector<float> bias = parameter_of(net, 1);
    std::vector<Numbers> logits(batch, Numbers(channels * places));
    const auto input = [&](std::size_t n, std::size_t i, std::size_t place) {
        return static_cast<double>(images[(n * 3 + i) * places + place]);
    };
    for (std::size_t n = 0; n < batch; ++n)
        for (std::size_t o = 0; o < channels; ++o)
            for (std::size_t place = 0; place < places; ++place) {
                double& logit = logits[n][o * places + place];
                logit = bias[o];
                for (std::size_t i = 0; i < 3; ++i) logit += weights[o * 3 + i] * input(n, i, place);
            }
    const double loss = differentiate_loss(logits);
    Numbers gradient(channels * 3);
    for (std::size_t n = 0; n < batch; ++n)
        for (std::size_t o = 0; o < channels; ++o)
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t place = 0; place < places; ++place)
                    gradient[o * 3 + i] += logits[n][o * places + place] * input(n, i, place);

    HostTraining training = training_of(net);
    CHECK(training.differentiate() == Approx(loss).epsilon(1e-6));
    check_same(training.gradient(0), gradient);
}

TEST_CASE("A flattened map that only linear layers read is not moved")
{
    const auto moves = [](const Graph& graph) {
        const StepProgram list = write_step(graph, {.batch = batch}, loops());
        return std::ranges::any_of(list.parts(), [](const TimedPart& part) { return part.kind == "flatten"; });
    };
    for (const char* const name : {"alexnet", "vgg11", "resnet18"}) CHECK_FALSE(moves(model::build_model(name)));
    for (const Graph& graph : {plain_network(), residual_network(), mobile_network()}) CHECK_FALSE(moves(graph));
    CHECK(moves(flattened_network()));
}

TEST_CASE("On a CPU, layers of a flattened map train as the loops do")
{
    const Graph net = flattened_network();
    HostTraining due = training_of(net);
    onednn::Network found(net, {.batch = batch, .threads = 2, .parameters = engine::Parameters::hashed});
    const std::vector<float> images = images_of(net);
    std::vector<int> labels;
    for (int n = 0; n < batch; ++n) labels.push_back(model::hashed_label(n, net.classes()));
    const Clock clock = [] { return Seconds{}; };
    Trace trace(clock, found.parts().size());
    for (int step = 0; step < 4; ++step) {
        INFO("step " << step);
        CHECK(found.forward(images.data(), labels.data(), trace) == Approx(due.differentiate()).epsilon(1e-5));
        found.backward(trace);
        found.update(trace);
        due.update();
    }
}

TEST_CASE("Outputs beyond the classes change neither losses nor parameters")
{
    for (const Graph& net : {token_network(true), token_network(false), plain_network()}) {
        for (const auto optimizer : {model::Optimizer::sgd, model::Optimizer::adamw}) {
            const Settings settings{.batch = batch, .parameters = engine::Parameters::hashed, .optimizer = optimizer};
            HostTraining due(net, settings);
            Choosers choosers = loops();
            choosers.outputs_multiple = 64;
            HostTraining found(net, settings, choosers);
            REQUIRE(found.list().bytes > due.list().bytes);
            for (int step = 0; step < 3; ++step) {
                CHECK(found.differentiate() == due.differentiate());
                found.update();
                due.update();
            }
            for (std::size_t k = 0; k < net.parameters().size(); ++k) CHECK(found.value(k) == due.value(k));
        }
    }
}

TEST_CASE("Sums that norms compute, activations within products and turns within attention change no value")
{
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("llama" + std::to_string(getpid()) + ".json");
    write_file(file,
               R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4,
 "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 100, "rms_norm_eps": 1e-5,
 "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}})");
    const Graph decoding = model::build_model(file.string(), 100, 40, model::Use::decode);
    std::filesystem::remove(file);
    Choosers fusing = loops();
    fusing.fuses_positions = true;
    const auto operations_of = [](const HostTraining& of) {
        std::size_t count = 0;
        for (const Program::Stage& stage : of.list().stages()) count += stage.operations.size();
        return count;
    };
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        for (const auto& [net, fewer] :
             {std::pair{token_network(true), 0U}, {token_network(false), 0U}, {decoding, 8U}}) {
            const bool trains = fewer == 0;
            const Settings settings{
                .batch = batch, .parameters = engine::Parameters::hashed, .trains = trains, .precision = precision};
            HostTraining due(net, settings), found(net, settings, fusing);
            INFO(net.name() << ": " << operations_of(due) << ", " << operations_of(found));
            CHECK(operations_of(found) < operations_of(due));
            // Of two layers that decode: four sums, two activations, two turns.
            if (!trains) CHECK(operations_of(due) - operations_of(found) == fewer);
            CHECK(found.differentiate() == due.differentiate());
            for (std::size_t k = 0; trains && k < net.parameters().size(); ++k)
                CHECK(found.gradient(k) == due.gradient(k));
        }
    }
}

TEST_CASE("Linear layers that are updated from the factors of their gradients train as with stored gradients")
{
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const Settings settings{.batch = batch, .parameters = engine::Parameters::hashed, .precision = precision};
        for (const Graph& net : {plain_network(), mobile_network()}) {
            HostTraining due(net, settings);
            Choosers choosers = loops();
            choosers.updates_from_factors = true;
            HostTraining found(net, settings, choosers);
            for (int step = 0; step < 3; ++step) {
                CHECK(found.differentiate() == Approx(due.differentiate()).epsilon(1e-6));
                found.update();
                due.update();
            }
            for (std::size_t k = 0; k < net.parameters().size(); ++k) {
                const std::vector<float> values = due.value(k);
                check_same(found.value(k), {values.begin(), values.end()});
            }
        }
    }
}
