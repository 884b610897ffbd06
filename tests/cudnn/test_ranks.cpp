// Data-parallel training by the GPU's program without a GPU: loops run the program, and ranks are threads.
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "tests/parallel/threads.hpp"
#include "workloads/cudnn/ranks.hpp"
#include "workloads/nccl/device_exchange.hpp"
#include "workloads/parallel/commands.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::cudnn;

namespace {

constexpr int steps = 4;

/// No layer mixes images; contains dropout.
model::Graph network()
{
    model::Graph net("unnormalised", {3, 12, 12});
    int x = net.relu("relu1", net.convolution("conv1", 0, 16, {.size = 3, .stride = 2, .padding = 1}, true));
    x = net.dropout("drop", net.flatten("flat", net.max_pool("pool", x, {.size = 2, .stride = 2, .padding = 0})), 0.5F);
    x = net.relu("relu2", net.linear("fc1", x, 24));
    net.linear("fc2", x, 10);
    return net;
}

Settings settings_of(int batch, model::Optimizer optimizer, const std::shared_ptr<parallel::Communicator>& ranks)
{
    return {.batch = batch,
            .learning_rate = optimizer == model::Optimizer::sgd ? 0.05F : 0.002F,
            .optimizer = optimizer,
            .ranks = ranks};
}

std::vector<double> alone(int batch, model::Optimizer optimizer)
{
    HostTraining training(network(), settings_of(batch, optimizer, nullptr));
    std::vector<double> losses;
    for (int step = 0; step < steps; ++step) {
        losses.push_back(training.differentiate());
        training.update();
    }
    return losses;
}

template <class Element>
std::span<std::byte> bytes_of(Element* begin, std::size_t count)
{
    return std::as_writable_bytes(std::span(begin, count));
}

void take_mean(parallel::Communicator& communicator, std::span<float> values)
{
    std::vector<double> sums(values.begin(), values.end());
    communicator.sum(sums);
    std::ranges::transform(sums, values.begin(),
                           [&](double sum) { return static_cast<float>(sum / communicator.size); });
}

/// Does on the host, immediately, what NCCL does on devices.
parallel::ExchangeOperations operations_on(HostTraining& training, parallel::Communicator& communicator)
{
    const Tensor& values = training.list().parameters.values;
    float* const gradients = training.memory().at<float>(training.list().parameters.gradients);
    return {.communication_follows_step = [] {},
            .step_follows_communication = [] {},
            .mean =
                [&communicator, begin = gradients](const parallel::Bucket& bucket, parallel::Reach) {
                    take_mean(communicator, {begin + bucket.begin, bucket.count});
                },
            .broadcast_parameters =
                [&] {
                    communicator.broadcast(bytes_of(training.memory().at<float>(values), values.elements()), 0);
                    communicator.broadcast(bytes_of(&training.state(), 1), 0);
                }};
}

/// Returns the mean losses of all ranks, as this rank receives them.
std::vector<double> with_others(parallel::Communicator& communicator, int batch, parallel::Mode mode,
                                model::Optimizer optimizer)
{
    HostTraining training(network(), settings_of(batch, optimizer, parallel::shared(communicator)));
    parallel::ExchangeOrder exchange(pack(training.list().parameters, 2048), mode,
                                     operations_on(training, communicator));
    std::vector<double> losses;
    for (int step = 0; step < steps; ++step) {
        exchange.begin();
        double loss = training.differentiate([&](std::size_t parameter) { exchange.ready(parameter); });
        exchange.finish();
        if (mode != parallel::Mode::broadcast || communicator.rank == 0) training.update();
        communicator.sum({&loss, 1});
        losses.push_back(loss / communicator.size);
    }
    return losses;
}

}  // namespace

TEST_CASE("Two ranks have the losses of one rank with both batches, dropout included")
{
    const auto mode = GENERATE(parallel::Mode::overlapped, parallel::Mode::serial, parallel::Mode::broadcast);
    const auto optimizer = GENERATE(model::Optimizer::sgd, model::Optimizer::adamw);
    const std::vector<double> due = alone(4, optimizer);
    std::vector<std::vector<double>> found(2);
    const auto complaints = parallel::on_ranks(2, [&](parallel::Communicator& communicator) {
        found[static_cast<std::size_t>(communicator.rank)] = with_others(communicator, 2, mode, optimizer);
    });
    CHECK(complaints == std::vector<std::string>(2));
    CHECK(found[0] == found[1]);
    REQUIRE(found[0].size() == due.size());
    for (std::size_t step = 0; step < due.size(); ++step) CHECK(found[0][step] == Approx(due[step]).epsilon(1e-5));
    CHECK(due.back() != due.front());
}

TEST_CASE("Buckets are consecutive ranges of the block of gradients, and each parameter is at the program's address")
{
    for (const model::Graph& graph : {plain_network(), residual_network()}) {
        const StepProgram list = write_step(graph, {.batch = 2}, loops());
        const Parameters& parameters = list.parameters;
        const parallel::Packing packing = pack(parameters, 4096);
        CHECK(packing.count == parameters.gradients.elements());
        CHECK(packing.buckets.size() > 1);
        std::size_t end = 0;
        for (const parallel::Bucket& bucket : packing.buckets) {
            CHECK(bucket.begin == end);
            end += bucket.count;
        }
        CHECK(end == parameters.gradients.elements());
        for (std::size_t k = 0; k < parameters.all().size(); ++k) CHECK(packing.begins[k] == parameters.all()[k].first);
    }
}

TEST_CASE("Ranks that store the first convolution's weights in other ways do not train")
{
    const auto complaints = parallel::on_ranks(2, [](parallel::Communicator& communicator) {
        Choosers choosers = loops(true);
        const bool is_deep = communicator.rank == 1;
        choosers.deep_images = [is_deep](const ConvolutionPass& first) {
            return is_deep && first.source.channels == 3;
        };
        const StepProgram list = write_step(residual_network(), {.batch = 2}, choosers);
        require_same(communicator, list.parameters.layouts(), parallel::differ_in_layout);
    });
    CHECK(complaints[0] == "rank 1: " + complaints[1]);
    // The backward pass completes the first layer's weights last: all others are alike.
    CHECK(complaints[1].find("store gradients or parameters differently: 'conv1.weight ") != std::string::npos);
    CHECK(complaints[1].find("by space to depth, read in fp32' here") != std::string::npos);
}
