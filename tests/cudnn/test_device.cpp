// Compares the step on a GPU with the loops and with PyTorch. Without a GPU the tests only report that there is none.
#include "ert/base/error.hpp"
#include "tests/cudnn/device_json.hpp"
#include "tests/cudnn/without_gpu.hpp"
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "tests/engine/reference.hpp"
#include "tests/skip.hpp"
#include "workloads/cudnn/step.hpp"
#include "workloads/model/hashed.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace roof;
using namespace roof::cudnn;

namespace {

Settings hashed(int batch, Precision precision, bool deterministic = false)
{
    return {.batch = batch,
            .parameters = engine::Parameters::hashed,
            .precision = precision,
            .deterministic = deterministic,
            .tune = false};
}

/// Trains on the parity batch, stage by stage.
class DeviceTraining {
  public:
    DeviceTraining(const model::Graph& graph, const Settings& settings) : program_(graph, settings, stream_, "this GPU")
    {
        const Tensor& images = program_.list().images;
        std::vector<float> values(images.elements());
        model::hashed_input().fill(values);
        std::vector<std::int32_t> labels;
        for (int n = 0; n < images.batch; ++n) labels.push_back(model::hashed_label(n, graph.classes()));
        REQUIRE(cudaMemcpy(program_.images(), values.data(), images.bytes(), cudaMemcpyHostToDevice) == cudaSuccess);
        REQUIRE(cudaMemcpy(program_.labels(), labels.data(), labels.size() * sizeof(std::int32_t),
                           cudaMemcpyHostToDevice) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }

    double differentiate()
    {
        run([](Phase phase) { return phase != Phase::update; });
        return static_cast<double>(state().loss);
    }
    void update()
    {
        run([](Phase phase) { return phase == Phase::update; });
    }
    const DeviceProgram& program() const { return program_; }
    StepState state() const
    {
        StepState state;
        REQUIRE(cudaMemcpy(&state, program_.state(), sizeof(state), cudaMemcpyDeviceToHost) == cudaSuccess);
        return state;
    }
    std::vector<float> value(std::size_t parameter) const
    {
        return stored(parameter, program_.list().parameters.values);
    }
    /// Returns the gradient of the unscaled loss.
    std::vector<float> gradient(std::size_t parameter) const
    {
        std::vector<float> values = stored(parameter, program_.list().parameters.gradients);
        const float scale = state().loss_scale;
        for (float& value : values) value /= scale;
        return values;
    }

  private:
    std::vector<float> stored(std::size_t parameter, const Tensor& all) const
    {
        return in_pytorch_order(program_.list().parameters.all()[parameter], program_.numbers(all));
    }
    template <class Wanted>
    void run(const Wanted& wanted)
    {
        const auto& stages = program_.list().stages();
        for (std::size_t i = 0; i < stages.size(); ++i) {
            if (wanted(stages[i].part.phase)) program_.enqueue(i);
        }
        stream_.synchronize();
    }

    gpu::Stream stream_;
    DeviceProgram program_;
};

double distance(const std::vector<float>& found, const std::vector<float>& due)
{
    std::vector<float> apart(due.size());
    std::ranges::transform(found, due, apart.begin(), std::minus{});
    return engine::norm(apart) / std::max(engine::norm(due), 1e-12);
}

/// Those that the GPU multiplies in, each with its tolerance.
std::vector<std::pair<Precision, double>> served(std::vector<std::pair<Precision, double>> all)
{
    std::erase_if(all, [](const auto& one) { return !multiplies_here(one.first); });
    return all;
}

/// Accepted relative differences from double precision; losses: absolute. The same as for the CPU engine in fp32.
struct Tolerance {
    double first_loss = 1e-6;
    double later_losses = 1e-4;
    double gradient = 5e-3;
    double projection = 2e-2;
};
/// tf32 and fp16 have eleven significant bits in products.
constexpr Tolerance tf32_tolerance{.first_loss = 1e-3, .later_losses = 1e-2, .gradient = 5e-2, .projection = 5e-1};
constexpr Tolerance fp16_tolerance{.first_loss = 1e-3, .later_losses = 1e-2, .gradient = 1e-1, .projection = 1};
constexpr Tolerance bf16_tolerance{.first_loss = 4e-3, .later_losses = 5e-2, .gradient = 2e-1, .projection = 2};

void compare_with_pytorch(const std::string& model, Precision precision, const Tolerance& tolerance)
{
    INFO(model << " " << traits(precision).name);
    const model::Graph graph = model::build_model(model);
    const engine::Reference reference(model);
    DeviceTraining training(graph, hashed(2, precision));
    for (std::size_t step = 0; step < reference.count("loss"); ++step) {
        INFO("step " << step);
        CHECK(std::abs(training.differentiate() - reference.at("loss", std::to_string(step))) <
              (step == 0 ? tolerance.first_loss : tolerance.later_losses));
        for (std::size_t k = 0; step == 0 && k < graph.parameters().size(); ++k) {
            const std::string name = graph.parameters()[k].name;
            const double length = reference.at("grad_l2", name);
            if (length < 1e-10) continue;  // bias before a batch norm, which subtracts it
            INFO(name);
            const std::vector<float> gradient = training.gradient(k);
            CHECK(std::abs(engine::norm(gradient) / length - 1) < tolerance.gradient);
            CHECK(std::abs(engine::projection(gradient, k) - reference.at("grad_proj", name)) / length <
                  tolerance.projection);
        }
        training.update();
    }
}

std::vector<double> losses_of(Step& step, int launches)
{
    const Clock clock = steady_clock();
    Trace trace(clock, step.parts().size());
    std::vector<double> losses;
    for (int i = 0; i < launches; ++i) {
        trace.reset();
        step.launch(trace);
        losses.push_back(trace.sample().loss.value());
        CHECK(trace.time_taken().value().value > 0);
    }
    for (const Seconds seconds : trace.part_seconds()) CHECK(seconds.value >= 0);
    return losses;
}

}  // namespace

TEST_CASE("The GPU's properties have the format of the stored device descriptions")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    const std::string json = json_of(current_device());
    WARN("for tests/cudnn/data: " << json);
    CHECK(json_of(device_from_json(json)) == json);
}

TEST_CASE("On a GPU the small networks compute what the loops compute")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    const auto [precision, tolerance] = GENERATE(from_range(
        served({{Precision::fp32, 1e-4}, {Precision::tf32, 0.1}, {Precision::bf16, 0.3}, {Precision::fp16, 0.1}})));
    for (const model::Graph& graph : {plain_network(), residual_network()}) {
        INFO(graph.name() << " " << traits(precision).name);
        HostTraining due(graph, hashed(4, precision));
        DeviceTraining found(graph, hashed(4, precision));
        const float scale = due.state().loss_scale;
        CHECK(std::abs(found.differentiate() - due.differentiate()) < tolerance);
        for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
            if (graph.parameters()[k].name == "conv2.bias" && graph.name() == "plain") continue;
            INFO(graph.parameters()[k].name);
            std::vector<float> gradient = due.gradient(k);
            for (float& value : gradient) value /= scale;
            CHECK(distance(found.gradient(k), gradient) < tolerance);
        }
        found.update();
        due.update();
        for (std::size_t k = 0; k < graph.parameters().size(); ++k)
            CHECK(distance(found.value(k), due.value(k)) < tolerance);
        for (std::size_t i = 0; i < due.list().running.size(); ++i) {
            const Running& running = found.program().list().running[i];
            CHECK(distance(found.program().numbers(running.variance), due.numbers(due.list().running[i].variance)) <
                  tolerance);
        }
    }
}

TEST_CASE("On a GPU batch norms by moments compute what the loops compute by passes")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    const auto [precision, tolerance] = GENERATE(from_range(served({{Precision::bf16, 0.3}, {Precision::fp16, 0.1}})));
    INFO(traits(precision).name);
    const model::Graph graph = bottleneck_network();
    Settings settings = hashed(4, precision);
    HostTraining due(graph, settings, false);
    settings.moments = true;
    DeviceTraining found(graph, settings);
    const float scale = due.state().loss_scale;
    CHECK(std::abs(found.differentiate() - due.differentiate()) < tolerance);
    for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
        INFO(graph.parameters()[k].name);
        std::vector<float> gradient = due.gradient(k);
        for (float& value : gradient) value /= scale;
        CHECK(distance(found.gradient(k), gradient) < tolerance);
    }
}

TEST_CASE("On a GPU the gradients of ResNet-50 are as near to those in fp32 with moments as with passes")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    constexpr int images = 8;
    constexpr std::size_t every = 8;  // parameters: a gradient is copied with all others
    const model::Graph graph = model::build_model("resnet50");
    const auto gradients_of = [&](Precision precision, bool by_moments) {
        Settings settings = hashed(images, precision);
        settings.moments = by_moments;
        DeviceTraining training(graph, settings);
        training.differentiate();
        std::vector<std::vector<float>> all;
        for (std::size_t k = 0; k < graph.parameters().size(); k += every) all.push_back(training.gradient(k));
        return all;
    };
    const auto exact = gradients_of(Precision::fp32, false);
    for (const Precision precision : {Precision::bf16, Precision::fp16}) {
        if (!multiplies_here(precision)) continue;
        const auto mean_distance = [&](bool by_moments) {
            const auto found = gradients_of(precision, by_moments);
            double sum = 0;
            for (std::size_t i = 0; i < exact.size(); ++i) sum += distance(found[i], exact[i]);
            return sum / static_cast<double>(exact.size());
        };
        const double passes = mean_distance(false);
        const double moments = mean_distance(true);
        INFO(traits(precision).name << ": mean distance " << moments << " with moments, " << passes << " with passes");
        CHECK(moments < 1.2 * passes);
    }
}

TEST_CASE("On a GPU the engines chosen by time compute what the loops compute")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    const auto [precision, tolerance] = GENERATE(from_range(served({{Precision::fp32, 1e-4}, {Precision::bf16, 0.3}})));
    const model::Graph graph = plain_network();
    INFO(traits(precision).name);
    Settings settings = hashed(4, precision);
    HostTraining due(graph, settings);
    settings.tune = true;
    DeviceTraining found(graph, settings);
    CHECK(std::abs(found.differentiate() - due.differentiate()) < tolerance);
    for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
        if (graph.parameters()[k].name == "conv2.bias") continue;  // batch norm subtracts it
        INFO(graph.parameters()[k].name);
        CHECK(distance(found.gradient(k), due.gradient(k)) < tolerance);
    }
}

TEST_CASE("On a GPU networks train as in PyTorch within the tolerance of each number format")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    for (const std::string model : {"alexnet", "resnet18", "vgg11_bn"})
        compare_with_pytorch(model, Precision::fp32, {});
    for (const auto& [precision, tolerance] : {std::pair{Precision::tf32, tf32_tolerance},
                                               {Precision::fp16, fp16_tolerance},
                                               {Precision::bf16, bf16_tolerance}}) {
        if (!multiplies_here(precision)) continue;
        for (const std::string model : {"alexnet", "resnet18"}) compare_with_pytorch(model, precision, tolerance);
    }
}

TEST_CASE("On a GPU a captured graph gives the same losses bit for bit and allocates no memory between launches")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    const model::Graph graph = model::build_model("resnet18");
    Settings settings = hashed(8, narrow_here(), true);
    settings.choices = std::make_shared<engine::Choices>();
    StepOptions options{.device = {0}, .device_model = "this GPU"};
    Step captured(graph, settings, options);
    options.graph = false;
    Step apart(graph, settings, options);
    const std::vector<double> losses = losses_of(captured, 3);
    CHECK(losses == losses_of(apart, 3));
    std::size_t before = 0;
    std::size_t after = 0;
    std::size_t total = 0;
    REQUIRE(cudaMemGetInfo(&before, &total) == cudaSuccess);
    losses_of(captured, 6);
    REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
    CHECK(after == before);
}

TEST_CASE("On a GPU one rank that uses NCCL computes the same step as without NCCL in every mode")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    const auto library = gpu::Nccl::open();
    if (library == nullptr) return skip("libnccl.so.2 was not found");
    const model::Graph graph = model::build_model("resnet18");
    Settings settings = hashed(8, narrow_here(), true);
    settings.choices = std::make_shared<engine::Choices>();
    const StepOptions options{.device = {0}, .device_model = "this GPU", .nccl = library};
    Step alone(graph, settings, options);
    const std::vector<double> due = losses_of(alone, 3);
    for (const auto mode : {parallel::Mode::overlapped, parallel::Mode::serial, parallel::Mode::broadcast}) {
        Step step(graph, settings, options);
        const auto hosts = parallel::shared_memory_communicator(parallel::SharedMemory::create(1), 0);
        step.train_with({hosts, nullptr, {}}, {.mode = mode, .bucket_bytes = 4'000'000});
        CHECK(losses_of(step, 3) == due);
        CHECK_THAT(step.variant(), Catch::Contains("1 rank by NCCL"));
    }
}

TEST_CASE("On a GPU a batch that exceeds the memory is an error that gives the batch that fits")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    const model::Graph graph = model::build_model("vgg16");
    const gpu::Stream stream;
    CHECK_THROWS_AS(DeviceProgram(graph, hashed(16384, narrow_here()), stream, "this GPU"), OutOfMemory);
}
