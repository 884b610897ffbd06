// The results, not the speed, of training on several ranks, which are threads here. Two ranks with a batch each must
// have the losses of one rank with both batches.
#include "ert/base/error.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "tests/parallel/threads.hpp"
#include "tests/skip.hpp"
#include "workloads/kernels/convolution.hpp"
#include "workloads/onednn/convolution/passes.hpp"
#include "workloads/onednn/step.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace roof;
using namespace roof::onednn;

namespace {

struct Training {
    std::string model = "alexnet";
    int batch = 1;  ///< per rank
    parallel::Mode mode = parallel::Mode::overlapped;
    bool synchronised = false;
    std::string data = "hashed";
    Parameters parameters = Parameters::hashed;
    int steps = 2;
    Precision precision = Precision::fp32;
    model::Optimizer optimizer = model::Optimizer::sgd;
};

/// A small network with every kind of trained layer, cheap enough for four ranks of threads.
model::Graph graph_of(const std::string& name)
{
    if (name == "tokens") return ir::token_network();
    if (name != "small") return model::build_model(name);
    model::Graph net("small", {3, 12, 12});
    int last = net.convolution("first", 0, 16, {.size = 3, .stride = 1, .padding = 1}, false);
    last = net.relu("relu1", net.batch_norm("norm1", last));
    const int left = last;
    last = net.convolution("second", last, 16, {.size = 3, .stride = 1, .padding = 1}, false);
    last = net.add("add", net.batch_norm("norm2", last), left);
    last = net.relu("relu2", last);
    last = net.dropout("drop", net.flatten("flat", net.average_pool("pool", last, 1)), 0.5F);
    net.linear("last", last, 10);
    return net;
}

Settings settings_of(const Training& training)
{
    return {.batch = training.batch,
            .threads = 1,
            .parameters = training.parameters,
            .learning_rate = 0.01F,
            .optimizer = training.optimizer,
            .precision = training.precision,
            .synchronised_batch_norm = training.synchronised};
}

std::vector<double> losses_of(Step& step, int steps)
{
    const Clock clock = steady_clock();
    Trace trace(clock, step.parts().size());
    std::vector<double> losses;
    for (int k = 0; k < steps; ++k) {
        trace.reset();
        step.launch(trace);
        losses.push_back(trace.sample().loss.value());
    }
    return losses;
}

std::vector<double> alone(const Training& training)
{
    Settings settings = settings_of(training);
    settings.synchronised_batch_norm = false;
    Step step(graph_of(training.model), settings, training.data, 1);
    return losses_of(step, training.steps);
}

/// Returns the losses that each rank saw.
std::vector<std::vector<double>> on(int ranks, const Training& training)
{
    std::vector<std::vector<double>> losses(static_cast<std::size_t>(ranks));
    const auto complaints = parallel::on_ranks(ranks, [&](parallel::Communicator& communicator) {
        Settings settings = settings_of(training);
        const auto shared = parallel::shared(communicator);
        settings.ranks = shared;
        Step step(graph_of(training.model), settings, training.data, 1);
        step.train_with({shared, nullptr, {}}, {.mode = training.mode, .bucket_bytes = 4'000'000});
        losses[static_cast<std::size_t>(communicator.rank)] = losses_of(step, training.steps);
    });
    CHECK(complaints == std::vector<std::string>(static_cast<std::size_t>(ranks)));
    return losses;
}

void check_same(const std::vector<double>& found, const std::vector<double>& due, double tolerance = 2e-5)
{
    REQUIRE(found.size() == due.size());
    for (std::size_t k = 0; k < due.size(); ++k) CHECK(found[k] == Approx(due[k]).epsilon(tolerance));
}

}  // namespace

TEST_CASE(
    "Two ranks of a decoder, whose last layer reads the embedding's weights, have the losses of one rank with both "
    "batches")
{
    const auto optimizer = GENERATE(model::Optimizer::sgd, model::Optimizer::adamw);
    const Training one{.model = "tokens", .batch = 1, .parameters = Parameters::hashed, .optimizer = optimizer};
    Training both = one;
    both.batch = 2;
    const auto two = on(2, one);
    check_same(two[0], alone(both));
    CHECK(two[0] == two[1]);
}

TEST_CASE("Two ranks of AlexNet have the losses of one rank with both batches")
{
    const auto two = on(2, {.model = "alexnet", .batch = 1});
    check_same(two[0], alone({.model = "alexnet", .batch = 2}));
    CHECK(two[0] == two[1]);
}

TEST_CASE("Two ranks of ResNet-18 with synchronised batch norm have the losses of one rank")
{
    check_same(on(2, {.model = "resnet18", .batch = 1, .synchronised = true})[0],
               alone({.model = "resnet18", .batch = 2}), 2e-4);
}

TEST_CASE("Four ranks with dropout have the losses of one rank in every exchange mode")
{
    const auto optimizer = GENERATE(model::Optimizer::sgd, model::Optimizer::adamw);
    const Training four{.model = "small",
                        .batch = 2,
                        .synchronised = true,
                        .parameters = Parameters::random,
                        .steps = 5,
                        .optimizer = optimizer};
    const auto due =
        alone({.model = "small", .batch = 8, .parameters = Parameters::random, .steps = 5, .optimizer = optimizer});
    for (const parallel::Mode mode : {parallel::Mode::overlapped, parallel::Mode::serial, parallel::Mode::broadcast}) {
        Training training = four;
        training.mode = mode;
        const auto found = on(4, training);
        check_same(found[0], due);
        for (const auto& losses : found) CHECK(losses == found[0]);
    }
}

TEST_CASE("Ranks in bf16 differ from one rank only by rounding")
{
    if (const auto reason = unsupported_precision(Precision::bf16)) return skip(*reason);
    const Training one{.model = "small", .batch = 4, .precision = Precision::bf16};
    const auto due = alone(one);
    Training two = one;
    two.batch = 2;
    const auto own = on(2, two)[0];
    two.synchronised = true;
    const auto found = on(2, two);
    CHECK(found[0] == found[1]);
    // The first loss precedes any update. Later losses include the effect of different rounding.
    check_same({found[0][0]}, {due[0]}, 1e-4);
    check_same(found[0], due, 2e-2);
    CHECK(std::abs(own[0] - due[0]) > 2 * std::abs(found[0][0] - due[0]));
}

TEST_CASE("Batch norm over each rank's own batch gives other losses")
{
    const auto due = alone({.model = "small", .batch = 4});
    const auto found = on(2, {.model = "small", .batch = 2})[0];
    CHECK(found[0] != Approx(due[0]).epsilon(1e-4));
}

TEST_CASE("All gradients become ready, from the last layer to the first")
{
    const auto complaints = parallel::on_ranks(1, [](parallel::Communicator& communicator) {
        Settings settings = settings_of({.model = "small"});
        settings.ranks = parallel::shared(communicator);
        Network network(graph_of("small"), settings);
        const parallel::Packing packing = parallel::pack(network.gradient_sizes(), 0);
        const std::span<float> block = communicator.block(packing.count);
        network.place_gradients([&](std::size_t parameter) { return block.data() + packing.begins[parameter]; });
        const Clock clock = steady_clock();
        Trace trace(clock, network.parts().size());
        const std::vector<float> image(3 * 12 * 12, 0.5F);
        const int label = 3;
        network.forward(image.data(), &label, trace);
        std::vector<std::string> order;
        network.backward(trace, [&](std::size_t k) { order.push_back(network.parameters()[k].name); });
        if (order.size() != network.parameters().size()) throw Error("not all of them");
        if (!order.front().starts_with("last.") || order.back() != "first.weight") throw Error("another order");
        if (!std::ranges::is_sorted(order, {}, [&](const std::string& name) {
                const auto& all = network.parameters();
                const auto found = std::ranges::find(all, name, &model::Parameter::name);
                return packing.begins[static_cast<std::size_t>(found - all.begin())];
            }))
            throw Error("they lie in another order");
    });
    CHECK(complaints == std::vector<std::string>(1));
}

TEST_CASE("A step of several ranks reports the work of all ranks and the cost of communication")
{
    Work one;
    {
        Step step(graph_of("small"), settings_of({.batch = 2}), "synthetic", 1);
        one = step.work();
    }
    const auto complaints = parallel::on_ranks(2, [&](parallel::Communicator& communicator) {
        Settings settings = settings_of({.batch = 2});
        const auto shared = parallel::shared(communicator);
        settings.ranks = shared;
        Step step(graph_of("small"), settings, "synthetic", 1);
        step.train_with({shared, nullptr, {}}, {});
        if (step.work().flops != 2 * one.flops) throw Error("work");
        if (step.variant().find("2 ranks by shared memory") == std::string::npos) throw Error(step.variant());
        const Clock clock = steady_clock();
        Trace trace(clock, step.parts().size());
        step.launch(trace);
        const Communication cost = trace.sample().communication;
        if (cost.bytes.value < 4 * 2954 || cost.exposed.value <= 0) throw Error("what communication cost");
    });
    CHECK(complaints == std::vector<std::string>(2));
}

TEST_CASE("Ranks whose algorithms store weights in other layouts do not train, and say what differs")
{
    if (kernels::convolution_lanes() == 0) return skip("without AVX2 both algorithms store weights alike");
    const auto complaints = parallel::on_ranks(2, [](parallel::Communicator& communicator) {
        Settings settings = settings_of({.model = "small"});
        const auto shared = parallel::shared(communicator);
        settings.ranks = shared;
        settings.algorithm = communicator.rank == 0 ? Algorithm::direct : Algorithm::gemm;
        Step step(graph_of("small"), settings, "hashed", 1);
        step.train_with({shared, nullptr, {}}, {.mode = parallel::Mode::overlapped, .bucket_bytes = 4'000'000});
    });
    for (const std::string& complaint : complaints) {
        CAPTURE(complaint);
        CHECK(complaint.find("store gradients or parameters differently: 'first.weight ") != std::string::npos);
    }
}
