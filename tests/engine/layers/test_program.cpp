// The GPU step's program, run by loops on the host, trains as the CPU engine does, which is tested against PyTorch.
#include "tests/engine/layers/distance.hpp"
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "tests/onednn/network_values.hpp"
#include "workloads/data/source.hpp"
#include "workloads/engine/ir/formulas.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace roof;
using namespace roof::ir;

namespace {

constexpr int batch = 3;

/// The CPU engine on the same batch.
class Reference {
  public:
    explicit Reference(const model::Graph& graph)
        : network_(graph, {.batch = batch, .threads = 2, .parameters = engine::Parameters::hashed}),
          trace_(clock_, network_.parts().size()),
          images_(static_cast<std::size_t>(batch * graph.layer(0).output.elements()))
    {
        const data::Source source = data::open_source("hashed", batch, data::Form::of(graph), 1, 1);
        const data::Batch made = source.next();
        std::copy_n(made.images, images_.size(), images_.begin());
        labels_.assign(made.labels, made.labels + batch * graph.labels_each());
    }
    double differentiate()
    {
        const double loss = network_.forward(images_.data(), labels_.data(), trace_);
        network_.backward(trace_);
        return loss;
    }
    void update() { network_.update(trace_); }
    const onednn::Network& network() const { return network_; }

  private:
    onednn::Network network_;
    Clock clock_ = [] { return Seconds{}; };
    Trace trace_;
    std::vector<float> images_;
    std::vector<int> labels_;
};

struct Tolerance {
    double loss;
    double gradient;
    double value;
};

void compare(const model::Graph& graph, const Settings& settings, bool fused, const Tolerance& tolerance,
             bool whole_norms = false)
{
    Reference due(graph);
    HostTraining found(graph, settings, fused, whole_norms);
    const float scale = found.state().loss_scale;
    for (int step = 0; step < 3; ++step) {
        INFO(graph.name() << " step " << step);
        CHECK(std::abs(found.differentiate() - due.differentiate()) < tolerance.loss * (step + 1));
        for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
            const model::Parameter parameter = graph.parameters()[k];
            if (parameter.name == "conv2.bias" && graph.name() == "plain") continue;  // batch norm subtracts it
            INFO(parameter.name);
            std::vector<float> gradient = found.gradient(k);
            for (float& one : gradient) one /= scale;
            if (step == 0) CHECK(distance(gradient, onednn::gradient_of(due.network(), k)) < tolerance.gradient);
        }
        found.update();
        due.update();
        for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
            if (graph.parameters()[k].name == "conv2.bias" && graph.name() == "plain") continue;
            INFO(graph.parameters()[k].name);
            CHECK(distance(found.value(k), onednn::value_of(due.network(), k)) < tolerance.value);
        }
    }
    const auto running = onednn::statistics_of(due.network());
    REQUIRE(running.size() == found.list().running.size());
    for (std::size_t i = 0; i < running.size(); ++i) {
        INFO(running[i].layer);
        CHECK(distance(found.numbers(found.list().running[i].mean), running[i].mean) < 100 * tolerance.value);
        CHECK(distance(found.numbers(found.list().running[i].variance), running[i].variance) < 100 * tolerance.value);
    }
}

Settings hashed(Precision precision)
{
    return {.batch = batch, .parameters = engine::Parameters::hashed, .precision = precision};
}

}  // namespace

TEST_CASE("The step's program trains as the CPU engine does, with and without fused bias and ReLU")
{
    const Tolerance fp32{.loss = 2e-5, .gradient = 2e-4, .value = 1e-4};
    const bool fused = GENERATE(true, false);
    compare(plain_network(), hashed(Precision::fp32), fused, fp32);
    compare(residual_network(), hashed(Precision::fp32), fused, fp32);
    compare(squeeze_network(), hashed(Precision::fp32), fused, fp32);
    compare(mobile_network(), hashed(Precision::fp32), fused, fp32, true);
    compare(mobile_network(), hashed(Precision::fp32), fused, fp32);
    compare(layer_norm_network(), hashed(Precision::fp32), fused, fp32);
    compare(attention_network(), hashed(Precision::fp32), fused, fp32);
    compare(token_network(true), hashed(Precision::fp32), fused, fp32);
    compare(token_network(false), hashed(Precision::fp32), fused, fp32);
    compare(vision_network(), hashed(Precision::fp32), fused, fp32);
    compare(window_network(), hashed(Precision::fp32), fused, fp32);
    compare(llama_network(), hashed(Precision::fp32), fused, fp32);
}

TEST_CASE("Losses over any number of classes and positions are those of plain loops")
{
    const Tolerance fp32{.loss = 2e-5, .gradient = 2e-4, .value = 1e-4};
    for (const int classes : {2, 64, 65, 641})
        compare(layer_norm_network(8, 20, classes), hashed(Precision::fp32), true, fp32);
    for (const int classes : {3, 16, 145})
        compare(token_network(false, 70, 8, 2, classes), hashed(Precision::fp32), true, fp32);
}

TEST_CASE("The step's program trains the same when a library computes whole batch norms")
{
    const Tolerance fp32{.loss = 2e-5, .gradient = 2e-4, .value = 1e-4};
    compare(plain_network(), hashed(Precision::fp32), true, fp32, true);
    compare(residual_network(), hashed(Precision::fp32), true, fp32, true);
    const StepProgram list = write_step(residual_network(), hashed(Precision::fp32), loops(true, true));
    int whole = 0;
    int apart = 0;
    for (const Program::Stage& stage : list.stages()) {
        for (const auto& operation : stage.operations) {
            whole += std::holds_alternative<LibraryNorm>(operation) ? 1 : 0;
            apart += std::holds_alternative<Statistics>(operation) ? 1 : 0;
        }
    }
    CHECK(whole > 0);
    CHECK(apart > 0);
}

TEST_CASE("The list as a CPU wants it trains as that for a GPU")
{
    Choosers choosers = loops(true);
    choosers.whole_norms = choosers.whole_gradients = true;
    for (const model::Graph& graph : {plain_network(), residual_network(), squeeze_network(), mobile_network()}) {
        INFO(graph.name());
        HostTraining whole(graph, hashed(Precision::fp32), choosers);
        HostTraining apart(graph, hashed(Precision::fp32), false);
        for (int step = 0; step < 2; ++step) {
            CHECK(whole.differentiate() == Approx(apart.differentiate()).epsilon(1e-5));
            whole.update();
            apart.update();
        }
        for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
            if (graph.parameters()[k].name == "conv2.bias" && graph.name() == "plain") continue;
            INFO(graph.parameters()[k].name);
            CHECK(distance(whole.value(k), apart.value(k)) < 1e-4);
        }
    }
}

/// With few values per channel, one ReLU whose input changes sign by rounding strongly changes a gradient.
TEST_CASE("In bf16 and fp16 the program trains within the tolerance of these formats")
{
    compare(residual_network(), hashed(Precision::bf16), true, {.loss = 3e-2, .gradient = 0.5, .value = 2e-2});
    compare(residual_network(), hashed(Precision::fp16), true, {.loss = 5e-3, .gradient = 0.25, .value = 5e-3});
    compare(plain_network(), hashed(Precision::bf16), false, {.loss = 3e-2, .gradient = 0.5, .value = 2e-2});
    compare(mobile_network(), hashed(Precision::bf16), false, {.loss = 3e-2, .gradient = 0.5, .value = 2e-2});
    compare(squeeze_network(), hashed(Precision::bf16), true, {.loss = 3e-2, .gradient = 0.5, .value = 2e-2});
    compare(layer_norm_network(), hashed(Precision::bf16), true, {.loss = 3e-2, .gradient = 0.5, .value = 2e-2});
    compare(attention_network(), hashed(Precision::bf16), true, {.loss = 3e-2, .gradient = 0.5, .value = 2e-2});
    compare(token_network(), hashed(Precision::bf16), true, {.loss = 3e-2, .gradient = 0.5, .value = 2e-2});
    compare(vision_network(), hashed(Precision::bf16), true, {.loss = 3e-2, .gradient = 0.5, .value = 2e-2});
    compare(window_network(), hashed(Precision::bf16), true, {.loss = 3e-2, .gradient = 0.5, .value = 2e-2});
}

TEST_CASE("Convolutions that sum for batch norms and apply them give the values of separate operations, in less memory")
{
    const Precision precision = GENERATE(Precision::bf16, Precision::fp16);
    const model::Graph graph = residual_network();
    HostTraining fused(graph, hashed(precision), true);
    HostTraining apart(graph, hashed(precision), false);
    // The sums are rounded differently, so a value may be stored as its neighbour.
    const double tolerance = precision == Precision::bf16 ? 0.05 : 0.01;
    CHECK(fused.differentiate() == Approx(apart.differentiate()).margin(tolerance));
    for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
        INFO(graph.parameters()[k].name);
        CHECK(distance(fused.gradient(k), apart.gradient(k)) < 10 * tolerance);
    }
    for (std::size_t i = 0; i < apart.list().running.size(); ++i) {
        const auto numbers = [i](const HostTraining& of) { return of.numbers(of.list().running[i].variance); };
        CHECK(distance(numbers(fused), numbers(apart)) < tolerance);
    }
    const model::Graph resnet = model::build_model("resnet50");
    const Settings settings{.batch = 32, .precision = precision};
    CHECK(static_cast<double>(write_step(resnet, settings, loops(true)).bytes) <
          0.9 * static_cast<double>(write_step(resnet, settings, loops(false)).bytes));
    int scaled = 0;
    int summed = 0;
    for (const Program::Stage& stage : fused.list().stages()) {
        for (const auto& operation : stage.operations) {
            const auto* const one = std::get_if<Convolve>(&operation);
            scaled += one != nullptr && one->shape.prologue ? 1 : 0;
            summed += one != nullptr && one->shape.statistics ? 1 : 0;
        }
    }
    CHECK(scaled == 4);  // a.conv2 and b.conv2, forward and weights
    CHECK(summed == 6);
}

TEST_CASE("Where no engine sums what it computes from a scaled source, the statistics stay apart")
{
    Choosers choosers = loops(true);
    choosers.convolution = [](const ConvolutionPass& shape) {
        return Choice{
            .plan = 0, .implementation = "loops", .algorithm = {}, .fused = !(shape.prologue && shape.statistics)};
    };
    HostTraining training(residual_network(), hashed(Precision::bf16), choosers);
    HostTraining apart(residual_network(), hashed(Precision::bf16), false);
    CHECK(training.differentiate() == Approx(apart.differentiate()).margin(0.05));
    choosers.convolution = [](const ConvolutionPass& shape) {
        return Choice{.plan = 0,
                      .implementation = "loops",
                      .algorithm = {},
                      .fused = shape.pass == Pass::forward || !shape.prologue};
    };
    // If one of the two passes cannot read a scaled source, none does.
    const StepProgram list = write_step(residual_network(), hashed(Precision::bf16), choosers);
    for (const Program::Stage& stage : list.stages()) {
        for (const auto& operation : stage.operations) {
            if (const auto* const one = std::get_if<Convolve>(&operation)) CHECK_FALSE(one->shape.prologue);
        }
    }
}

namespace {

/// Returns the largest difference in units of the largest value.
double largest_difference(const std::vector<float>& ours, const std::vector<float>& theirs)
{
    REQUIRE(ours.size() == theirs.size());
    double most = 0;
    double largest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        most = std::max(most, std::abs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i])));
        largest = std::max(largest, std::abs(static_cast<double>(theirs[i])));
    }
    return largest > 0 ? most / largest : most;
}

}  // namespace

TEST_CASE("Images by space to depth train the same network")
{
    const auto [graph, precision, taps] =
        GENERATE(table<model::Graph, Precision, int>({{residual_network(), Precision::fp32, 4},
                                                      {residual_network(), Precision::bf16, 4},
                                                      {plain_network(), Precision::fp32, 3}}));
    INFO(graph.name() << " " << traits(precision).name);
    Choosers choosers = loops(true);
    choosers.deep_images = [](const ConvolutionPass& first) { return first.source.channels == 3; };
    HostTraining deep(graph, hashed(precision), choosers);
    HostTraining plain(graph, hashed(precision), true);
    const double tolerance = precision == Precision::fp32 ? 1e-4 : 0.02;
    for (int step = 0; step < 2; ++step) {
        CHECK(deep.differentiate() == Approx(plain.differentiate()).epsilon(tolerance));
        for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
            INFO(graph.parameters()[k].name);
            CHECK(largest_difference(deep.gradient(k), plain.gradient(k)) <= tolerance);
        }
        deep.update();
        plain.update();
    }
    const auto& first = deep.list().parameters.all().front();
    CHECK(first.depth.taps() == static_cast<std::size_t>(taps));
    std::size_t unused = 0;
    for (std::size_t i = 0; i < first.count; ++i) {
        if (first.pytorch_place(i)) continue;
        ++unused;
        REQUIRE(deep.numbers(deep.list().parameters.values)[first.first + i] == 0);
    }
    CHECK(first.count - unused == first.given);
}

TEST_CASE("A gradient that is not finite halves the loss scale and leaves the parameters unchanged")
{
    HostTraining training(plain_network(), hashed(Precision::fp16));
    training.differentiate();
    const std::vector<float> before = training.value(0);
    training.state().loss_scale = std::numeric_limits<float>::infinity();
    training.differentiate();
    training.state().loss_scale = 1024;
    training.update();
    CHECK(training.value(0) == before);
    CHECK(training.state().loss_scale == 512);
    CHECK(training.state().skipped == 1);
    CHECK(training.state().finite == 1);
    CHECK(training.state().step == 1);
    training.differentiate();
    training.update();
    CHECK(training.value(0) != before);
    CHECK(training.state().step == 2);
}

TEST_CASE("The loss scale doubles after a number of updates without overflow, as in PyTorch")
{
    LossScale scale{first_loss_scale, 0};
    for (std::uint32_t i = 0; i < updates_before_doubling; ++i) scale = next_scale(scale, true);
    CHECK(scale.scale == 2 * first_loss_scale);
    CHECK(scale.good == 0);
    CHECK(next_scale(scale, false).scale == first_loss_scale);
}

TEST_CASE("Dropout drops its share at positions that differ by step and layer and are the same backward")
{
    Settings settings = hashed(Precision::fp32);
    settings.parameters = engine::Parameters::random;
    HostTraining training(plain_network(), settings);
    const double first = training.differentiate();
    CHECK(training.differentiate() == first);
    training.state().step = 1;
    CHECK(training.differentiate() != first);

    int kept = 0;
    int differing = 0;
    const std::uint32_t threshold = dropout_threshold(0.25F);
    for (std::size_t i = 0; i < 100'000; ++i) {
        kept += keeps(dropout_stream(0, 3), i, threshold) ? 1 : 0;
        differing += keeps(dropout_stream(0, 3), i, threshold) != keeps(dropout_stream(0, 4), i, threshold) ? 1 : 0;
    }
    CHECK(std::abs(kept - 75'000) < 1000);
    CHECK(std::abs(differing - 37'500) < 1000);
}

TEST_CASE("Gradients are in one block in order of completion, each parameter once")
{
    for (const auto& [model, precision] : {std::pair<std::string, Precision>{"vgg11_bn", Precision::fp32},
                                           {"vgg11_bn", Precision::bf16},
                                           {"resnet18", Precision::bf16}}) {
        const model::Graph graph = model::build_model(model);
        const StepProgram list = write_step(graph, {.batch = 2, .precision = precision}, loops());
        std::vector<std::size_t> places;
        for (const Program::Stage& stage : list.stages()) {
            for (const std::size_t parameter : stage.ready) places.push_back(list.parameters.all()[parameter].first);
        }
        CHECK(std::set(places.begin(), places.end()).size() == graph.parameters().size());
        CHECK(places.size() == graph.parameters().size());
        // Narrow gradients of convolutions wait for others, to be widened together.
        if (precision == Precision::fp32) CHECK(std::ranges::is_sorted(places));
    }
}

TEST_CASE("Every matrix of trained values is aligned to 256 bytes, as cuBLASLt's suggestions assume")
{
    const Settings settings{.batch = 2, .precision = Precision::bf16};
    const StepProgram list = write_step(model::build_model("alexnet"), settings, loops());
    for (const Trained& trained : list.parameters.all()) {
        for (const Tensor& tensor : {trained.value, trained.gradient, trained.read}) CHECK(tensor.begin % 256 == 0);
    }
}

TEST_CASE("Activations that are never needed at the same time share memory")
{
    const model::Graph graph = model::build_model("resnet50");
    std::size_t before = 0;
    for (const int images : {1, 8, 32}) {
        const StepProgram list = write_step(graph, {.batch = images, .precision = Precision::bf16}, loops());
        std::size_t apart = 0;
        for (const Program::Stage& stage : list.stages()) {
            for (const roof::Operation& operation : stage.part.operations)
                apart += static_cast<std::size_t>(operation.bytes.value);
        }
        CHECK(list.bytes > before);
        CHECK(list.bytes < apart / 2);
        before = list.bytes;
    }
    const StepProgram narrow = write_step(graph, {.batch = 32, .precision = Precision::bf16}, loops());
    const StepProgram wide = write_step(graph, {.batch = 32, .precision = Precision::fp32}, loops());
    CHECK(static_cast<double>(narrow.bytes) < 0.65 * static_cast<double>(wide.bytes));
}
