// What a step moves through memory and how many kernels of its own it launches, counted from the operations of its
// program: each tensor that an operation reads or writes, once. results/examples/gpu.md has the table.
#include "tests/engine/layers/host_training.hpp"
#include "workloads/model/models.hpp"
#include "workloads/parallel/shared_memory.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace roof;
using namespace roof::ir;

namespace {

struct Traffic {
    int launches = 0;
    double gigabytes = 0;
    double milliseconds = 0;  ///< at least, by the roofs
};

/// The ceilings of an H100 SXM that results/examples/gpu.md quotes: copies, and bf16 by wgmma.
constexpr double bytes_per_second = 3.035e12;
constexpr double flops_per_second = 936e12;

double flops_of(const ir::Operation& operation)
{
    if (const auto* const one = std::get_if<Convolve>(&operation)) {
        const int window = one->shape.window.size * one->shape.window.size;
        return 2.0 * window * one->shape.source.channels * static_cast<double>(one->result.elements());
    }
    const auto* const product = std::get_if<Multiply>(&operation);
    return product == nullptr ? 0 : 2.0 * static_cast<double>(product->source.elements()) * product->result.channels;
}

/// `choosers`: at first of convolutions that take nothing over of batch norms.
std::map<std::string, Traffic> traffic_of(const model::Graph& graph, const Settings& settings,
                                          const Choosers& choosers = loops(false))
{
    const StepProgram list = write_step(graph, settings, choosers);
    std::map<std::string, Traffic> all;
    for (const Program::Stage& stage : list.stages()) {
        for (std::size_t i = 0; i < stage.operations.size(); ++i) {
            const roof::Operation& described = stage.part.operations[i];
            const double least =
                std::max(described.bytes.value / bytes_per_second, flops_of(stage.operations[i]) / flops_per_second);
            for (Traffic* const sum : {&all[described.implementation], &all["all"]}) {
                ++sum->launches;
                sum->gigabytes += 1e-9 * described.bytes.value;
                sum->milliseconds += 1e3 * least;
            }
        }
    }
    return all;
}

}  // namespace

TEST_CASE("A step of ResNet-50 moves the bytes and launches the kernels that its page states")
{
    const auto all = traffic_of(model::build_model("resnet50"), {.batch = 256, .precision = Precision::bf16});
    for (const auto& [name, sum] : all)
        UNSCOPED_INFO(name << ": " << sum.launches << " launches, " << sum.gigabytes << " GB, " << sum.milliseconds
                           << " ms");
    CHECK(all.at("all").launches == 371);
    CHECK(all.at("all").gigabytes == Approx(84.94).margin(0.01));
    CHECK(all.at("all").milliseconds == Approx(29.56).margin(0.01));
    CHECK(all.at("loops").launches == 161);  // convolutions and products
    CHECK(all.at("loops").gigabytes == Approx(33.12).margin(0.01));
    // The source and the result, whose batch norm the pool applies, and a byte for each value of the result; none
    // backward.
    CHECK(all.at("roof:max_pool").launches == 1);
    CHECK(all.at("roof:max_pool").gigabytes == Approx(0.57).margin(0.01));
    // Both batch norms at the end of a block with a shortcut: the gradient, two sources, two gradients of sources.
    CHECK(all.at("roof:norm_sums of two").launches == 4);
    CHECK(all.at("roof:norm_gradient of two").launches == 4);
    CHECK(all.at("roof:norm_gradient of two").gigabytes == Approx(5 * 0.7707).margin(0.01));
    CHECK(all.at("roof:norm_gradient").launches == 45);
    CHECK(all.at("roof:norm_gradient").gigabytes == Approx(12.19).margin(0.01));
}

/// What the stage of this layer, or that of it and others, moves in this phase.
Work moved_by(const StepProgram& list, const std::string& layer, Phase phase)
{
    Work sum;
    for (const TimedPart& part : list.parts()) {
        if (part.phase != phase || (part.layer != layer && !part.layer.starts_with(layer + "+"))) continue;
        sum.compulsory += part.work.compulsory;
        sum.read += part.work.read;
        sum.written += part.work.written;
    }
    return sum;
}

TEST_CASE(
    "A stage counts what its operations move: nothing of a batch norm that is deferred, and of moments what they read")
{
    // bf16, 256 images: a map of 64 channels of 112 x 112 has 411.0 MB, and so has one of 256 channels of 56 x 56; with
    // 64 channels 102.8 MB.
    constexpr double map = 2.0 * 256 * 64 * 112 * 112, quarter = map / 4, within = 0.002;
    const StepProgram passes =
        write_step(model::build_model("resnet50"), {.batch = 256, .precision = Precision::bf16}, loops(false));
    const StepProgram moments =
        write_step(model::build_model("resnet50"), {.batch = 256, .precision = Precision::bf16}, loops_of_moments());
    // Its only reader, the pool, normalises what it reads: statistics alone.
    CHECK(moved_by(passes, "bn1", Phase::forward).read.value == Approx(map).epsilon(within));
    CHECK(moved_by(passes, "bn1", Phase::forward).written.value < 1e4);
    // The pool's gradient is the sum of two shares. It, the winners (a byte for two) and the source, twice; the
    // source's gradient.
    const Work first = moved_by(passes, "bn1", Phase::backward);
    CHECK(first.read.value == Approx(2 * quarter + 2 * (map + quarter + quarter / 2)).epsilon(within));
    CHECK(first.written.value == Approx(quarter + map).epsilon(within));
    // By moments of the convolution's source, which sums and a product read.
    const Work third = moved_by(moments, "layer1.1.bn3", Phase::forward);
    CHECK(third.read.value == Approx(2 * quarter).epsilon(within));
    CHECK(third.written.value < 1e6);
    CHECK(moved_by(passes, "layer1.1.bn3", Phase::forward).read.value == Approx(map).epsilon(within));
    // A 3x3 convolution with stride 2 reads and writes what its definition says, and a 1x1 one a quarter of the
    // positions.
    CHECK(moved_by(passes, "layer2.0.conv2", Phase::forward).read.value ==
          Approx(map / 2 + 2 * 9 * 128 * 128).epsilon(within));
    CHECK(moved_by(passes, "layer2.0.downsample.0", Phase::forward).read.value ==
          Approx(map / 4 + 2 * 256 * 512).epsilon(within));
    CHECK(moved_by(passes, "layer2.0.downsample.0", Phase::forward).written.value == Approx(map / 2).epsilon(within));
    // All of it: what the operations have, less the quarters that convolutions do not read, and what stays in an
    // operation.
    double all = 0;
    for (const TimedPart& part : moments.parts()) {
        CHECK(part.work.compulsory <= part.work.no_reuse);
        all += part.work.compulsory.value;
    }
    CHECK(all == Approx(73.3e9).margin(0.6e9));
}

TEST_CASE(
    "An executor of whole batch norms moves each map once, and all executors count the bytes that a plain layer's "
    "definition has")
{
    const model::Graph graph = model::build_model("resnet18");
    const Settings settings{.batch = 8, .precision = Precision::fp32};
    Choosers choosers = loops(false);
    choosers.whole_norms = true;
    const StepProgram whole = write_step(graph, settings, choosers);
    constexpr double map = 4.0 * 8 * 64 * 56 * 56, within = 0.002;
    CHECK(moved_by(whole, "layer1.0.bn1", Phase::forward).compulsory.value == Approx(2 * map).epsilon(within));
    CHECK(moved_by(whole, "layer1.0.bn2", Phase::forward).read.value == Approx(2 * map).epsilon(within));
    CHECK(moved_by(whole, "layer1.0.bn2", Phase::forward).written.value == Approx(map).epsilon(within));
    const model::Graph plain = model::build_model("vgg11");
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const StepProgram list = write_step(plain, {.batch = 8, .precision = precision}, loops(false));
        for (int index = 1; index < static_cast<int>(plain.layers().size()); ++index) {
            const model::Layer& layer = plain.layer(index);
            const model::LayerWork due = model::work_of(plain, index, 8, precision);
            const Work forward = moved_by(list, layer.name, Phase::forward);
            const Work backward = moved_by(list, layer.name, Phase::backward);
            if (layer.kind == model::LayerKind::max_pool) {
                CHECK(forward.compulsory.value == Approx(due.forward.compulsory.value));
                CHECK(backward.compulsory.value == Approx(due.backward_data.compulsory.value));
                CHECK(backward.written.value == Approx(due.backward_data.written.value));
            }
            // Here bias and ReLU are an operation of their own, which reads and writes the result once more.
            if (layer.kind == model::LayerKind::convolution) {
                CHECK(forward.read.value - due.forward.written.value ==
                      Approx((due.forward.compulsory - due.forward.written).value).epsilon(within));
                CHECK(forward.written.value == Approx(2 * due.forward.written.value));
            }
        }
    }
}

TEST_CASE("Where the library's convolutions sum for batch norms and apply them, a step moves less")
{
    const auto all =
        traffic_of(model::build_model("resnet50"), {.batch = 256, .precision = Precision::bf16}, loops(true));
    for (const auto& [name, sum] : all)
        UNSCOPED_INFO(name << ": " << sum.launches << " launches, " << sum.gigabytes << " GB, " << sum.milliseconds
                           << " ms");
    CHECK(all.at("all").launches == 337);
    CHECK(all.at("all").gigabytes == Approx(75.87).margin(0.01));
    CHECK(all.at("all").milliseconds == Approx(26.58).margin(0.01));
    CHECK(!all.contains("roof:statistics"));
    CHECK(all.at("roof:statistics of sums").launches == 53);
}

TEST_CASE(
    "Where the library's convolutions only sum for batch norms, a step does not read their results for statistics")
{
    Choosers choosers = loops(true);
    choosers.convolution = [](const ConvolutionPass& shape) {
        return Choice{.plan = 0, .implementation = "loops", .algorithm = {}, .fused = !shape.prologue};
    };
    const Settings settings{.batch = 256, .precision = Precision::fp16};
    const auto all = traffic_of(model::build_model("resnet50"), settings, choosers);
    CHECK(all.at("roof:statistics of sums").launches == 53);
    CHECK(all.at("roof:normalise").launches == 32);
    CHECK(all.at("all").gigabytes == Approx(79.34).margin(0.01));
}

TEST_CASE("With moments a step does not read the results of the last convolutions of blocks backward")
{
    const auto all =
        traffic_of(model::build_model("resnet50"), {.batch = 256, .precision = Precision::bf16}, loops_of_moments());
    for (const auto& [name, sum] : all)
        UNSCOPED_INFO(name << ": " << sum.launches << " launches, " << sum.gigabytes << " GB, " << sum.milliseconds
                           << " ms");
    CHECK(all.at("all").launches == 492);
    CHECK(all.at("all").gigabytes == Approx(73.82).margin(0.01));
    CHECK(all.at("all").milliseconds == Approx(25.89).margin(0.01));
    CHECK(all.at("roof:statistics of moments").launches == 17);  // of 16 blocks, and of the first shortcut
    CHECK(all.at("roof:statistics").launches == 36);
    CHECK(all.at("roof:norm_gradient").launches == 36);
    // PyTorch compiled, by the same count: what the page says.
    constexpr double pytorch = 95.2;
    CHECK(pytorch / all.at("all").gigabytes > 1.25);
    // As an H100 chooses them.
    Choosers choosers = loops_of_moments();
    choosers.moments = [](const ConvolutionPass& forward) { return forward.source.channels < 512; };
    const auto most =
        traffic_of(model::build_model("resnet50"), {.batch = 256, .precision = Precision::bf16}, choosers);
    CHECK(pytorch / most.at("all").gigabytes > 1.25);
    CHECK(most.at("all").gigabytes == Approx(74.19).margin(0.01));
}

TEST_CASE("Gradients of convolutions are widened in one launch, or a bucket at a time where other ranks wait")
{
    const model::Graph graph = model::build_model("resnet50");
    Settings settings{.batch = 2, .precision = Precision::bf16};
    CHECK(traffic_of(graph, settings).at("roof:widen").launches == 1);
    settings.ranks = parallel::shared_memory_communicator(parallel::SharedMemory::create(2), 0);
    const int launches = traffic_of(graph, settings).at("roof:widen").launches;
    CHECK(launches > 10);
    CHECK(launches < 40);
    settings.precision = Precision::fp32;
    CHECK(!traffic_of(graph, settings).contains("roof:widen"));
}
