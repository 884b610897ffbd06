#include "ert/method/bench/bench_registry.hpp"
#include "tests/data/jpeg_files.hpp"
#include "workloads/model/work.hpp"
#include "workloads/onednn/step.hpp"
#include "workloads/onednn/train_bench.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

namespace roof {
void add_onednn(BenchRegistry& registry);
}

using namespace roof;
using namespace roof::onednn;

namespace {

const Device cpu_device{
    .name = "cpu", .kind = "cpu", .model = {}, .levels = {}, .memory = {}, .memory_available = {}, .facts = {}};

Machine two_threads()
{
    Machine machine;
    machine.threads = 2;
    return machine;
}

Point point(const std::string& model, const std::string& batch)
{
    Point point;
    for (const auto& [axis, value] : std::vector<std::pair<std::string, std::string>>{{"model", model},
                                                                                      {"batch", batch},
                                                                                      {"precision", "fp32"},
                                                                                      {"algorithm", "direct"},
                                                                                      {"data", "synthetic"},
                                                                                      {"parameters", "random"},
                                                                                      {"lr", "0.001"},
                                                                                      {"threads", "2"}}) {
        point.set(axis, value);
    }
    return point;
}

bool moves_nothing(const model::Layer& layer)
{
    using model::LayerKind;
    return layer.kind == LayerKind::input || layer.kind == LayerKind::flatten ||
           (layer.kind == LayerKind::average_pool && layer.window.size == 1);
}

/// FLOPs of the weight gradients of linear layers at batch 1. The update computes them.
Flops gradients_made_in_the_update(const model::Graph& graph)
{
    Flops sum{};
    for (int index = 0; index < static_cast<int>(graph.layers().size()); ++index) {
        if (graph.layer(index).kind == model::LayerKind::linear)
            sum += model::work_of(graph, index, 1, Precision::fp32).backward_weights.flops;
    }
    return sum;
}

/// The layers in the names of the parts.
std::set<std::string> names_in(const std::vector<TimedPart>& parts, Phase phase)
{
    std::set<std::string> names;
    for (const TimedPart& part : parts) {
        if (part.phase != phase) continue;
        for (std::size_t begin = 0; begin <= part.layer.size();) {
            const std::size_t end = std::min(part.layer.find('+', begin), part.layer.size());
            names.insert(part.layer.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    return names;
}

}  // namespace

TEST_CASE("Every family's step has forward and backward parts for all layers, with the model's FLOPs")
{
    for (const std::string model : {"alexnet", "vgg11_bn", "resnet50"}) {
        INFO(model);
        const model::Graph graph = model::build_model(model);
        const Step step(graph, {.batch = 1, .threads = 2}, "synthetic", 1);
        const std::vector<TimedPart> parts = step.parts();
        const std::set<std::string> forward = names_in(parts, Phase::forward);
        const std::set<std::string> backward = names_in(parts, Phase::backward);
        for (const model::Layer& layer : graph.layers()) {
            if (moves_nothing(layer)) continue;
            INFO(layer.name);
            CHECK(forward.count(layer.name) == 1);
            CHECK(backward.count(layer.name) == 1);
        }

        const model::StepWork work = model::work_of(graph, 1, Precision::fp32);
        double all = 0;
        Flops update{};
        for (const TimedPart& part : parts) {
            all += part.work.flops.value;
            if (part.phase == Phase::update) update += part.work.flops;
            CHECK(part.work.compulsory <= part.work.no_reuse);
            CHECK(part.work.tells_reads_from_writes());
            CHECK_FALSE(part.implementation.empty());
        }
        CHECK(step.work().flops == work.step());
        CHECK(all > (work.step() + work.elementwise).value);
        CHECK(all < (work.step() + work.elementwise + work.update).value * 1.001 + 10 * graph.classes());
        CHECK(update == work.update + gradients_made_in_the_update(graph));
    }
}

TEST_CASE("The end of a residual block is one part per pass and moves each operand once")
{
    const model::Graph graph = model::build_model("resnet18");
    const Network network(graph, {.batch = 2, .threads = 2});
    const auto part_of = [parts = network.parts()](const std::string& layer, Phase phase) {
        std::vector<TimedPart> found;
        for (const TimedPart& part : parts) {
            if (part.phase == phase && ("+" + part.layer + "+").find("+" + layer + "+") != std::string::npos)
                found.push_back(part);
        }
        REQUIRE(found.size() == 1);
        return found.front();
    };
    const double map = 2 * 64 * 56 * 56 * 4;  // bytes of layer1
    const double numbers = 64 * 4;            // bytes of one number for each channel of layer1
    // Weight and bias are read, running mean and variance read and written, mean, deviation, scale and shift written.
    const double forward = (2 + 4 + 4) * numbers;
    // Weight, mean and deviation are read, the gradients of weight and bias written.
    const double backward = (3 + 2) * numbers;
    const TimedPart plain = part_of("layer1.0.add", Phase::forward);
    CHECK(plain.layer == part_of("layer1.0.bn2", Phase::forward).layer);
    CHECK(plain.implementation.starts_with("roof:batch_norm+sum+relu"));
    CHECK(plain.work.compulsory.value == 3 * map + forward);
    CHECK(part_of("layer1.0.add", Phase::backward).work.compulsory.value == 6 * map + backward);
    const TimedPart with_two = part_of("layer2.0.add", Phase::forward);
    CHECK(with_two.layer == part_of("layer2.0.downsample.1", Phase::forward).layer);
    CHECK(with_two.work.compulsory.value == 3 * map / 2 + 2 * 2 * forward);  // two norms of twice the channels
}

TEST_CASE("No layer uses oneDNN's reference kernels, and in fp32 none names bf16")
{
    for (const std::string model : {"alexnet", "resnet18", "resnet50"}) {
        const Network network(model::build_model(model), {.batch = 2, .threads = 2});
        for (const TimedPart& part : network.parts()) {
            INFO(model << " " << part.layer << " " << name(part.phase) << ": " << part.implementation);
            CHECK(part.implementation.find("ref") == std::string::npos);
            CHECK(part.implementation.find("bf16") == std::string::npos);  // in fp32
            CHECK(part.implementation.find("simple") == std::string::npos);
        }
    }
}

TEST_CASE("A launch of ResNet-18 reports its loss, its wait for data and the time of every part")
{
    const std::unique_ptr<Subject> step = TrainBench().make(point("resnet18", "1"), two_threads(), cpu_device);
    double now = 0;
    const Clock counting = [&now] { return Seconds{now += 1}; };
    Trace trace(counting, step->parts().size());
    step->launch(trace);
    step->check();
    REQUIRE(trace.sample().loss);
    CHECK(std::isfinite(*trace.sample().loss));
    CHECK(trace.data_seconds().value >= 0);
    for (const Seconds seconds : trace.part_seconds()) CHECK(seconds.value == 1);
    CHECK(step->memory().value > 11'689'512 * 12.0);
}

TEST_CASE("A step whose loss is not finite fails its check")
{
    const Settings settings{.batch = 1, .threads = 2, .learning_rate = 1e30F};
    Step step(model::build_model("alexnet"), settings, "synthetic", 1);
    const Clock clock = steady_clock();
    Trace trace(clock, step.parts().size());
    for (int launch = 0; launch < 3; ++launch) step.launch(trace);
    CHECK_THROWS_AS(step.check(), Error);
}

TEST_CASE("A label that is not a class is an error")
{
    const model::Graph graph = model::build_model("alexnet", 10);
    Network network(graph, {.batch = 1, .threads = 2});
    const Clock clock = steady_clock();
    Trace trace(clock, network.parts().size());
    const std::vector<float> image(static_cast<std::size_t>(graph.layer(0).output.elements()));
    for (const int label : {-1, 10}) CHECK_THROWS_AS(network.forward(image.data(), &label, trace), Error);
}

TEST_CASE("The part registers the bench and the library's version")
{
    BenchRegistry registry;
    add_onednn(registry);
    CHECK(registry.machine().versions.at("oneDNN").find('.') != std::string::npos);
    const Bench* bench = registry.find("train", "cpu");
    REQUIRE(bench != nullptr);
    std::vector<std::string> names;
    for (const Axis& axis : bench->axes(registry.machine())) {
        names.push_back(axis.name);
        CHECK_FALSE(axis.defaults.empty());
    }
    CHECK(names == std::vector<std::string>{"model", "batch", "precision", "algorithm", "data", "parameters", "lr",
                                            "optimizer", "tokens", "phase", "threads", "ranks", "scaling",
                                            "communication", "bucket_mb", "batch_norm"});
}

TEST_CASE("An invalid learning rate or folder is an input error before anything is allocated")
{
    Point wrong = point("alexnet", "1");
    wrong.set("lr", "-1");
    CHECK_THROWS_AS(TrainBench().make(wrong, two_threads(), cpu_device), InputError);
    CHECK_THROWS_AS(TrainBench().unsupported_reason(wrong, two_threads(), cpu_device), InputError);
    wrong.set("lr", "0.1");
    wrong.set("data", "/nowhere");
    CHECK_THROWS_WITH(TrainBench().unsupported_reason(wrong, two_threads(), cpu_device), Catch::Contains("/nowhere"));
}

TEST_CASE(
    "A plan's model may be a decoder's config.json, trained and decoded; a sliding window that is longer is refused")
{
    const std::string data = std::string(ROOF_TEST_DATA) + "/../engine/data/configs/";
    BenchRegistry registry;
    add_onednn(registry);
    const Bench* const bench = registry.find("train", "cpu");
    REQUIRE(bench != nullptr);
    const std::vector<Axis> axes = bench->axes(registry.machine());
    const auto axis = [&](const char* name) { return *std::ranges::find(axes, name, &Axis::name); };
    Point asked = point(data + "config_mistral.json", "2");
    CHECK(axis("model").file_endings == std::vector<std::string_view>{".onnx", ".json"});
    CHECK(axis("tokens").otherwise(asked) == "1024");
    CHECK(axis("optimizer").otherwise(asked) == "adamw");
    asked.set("tokens", "16");
    CHECK_FALSE(TrainBench().unsupported_reason(asked, two_threads(), cpu_device));
    CHECK(TrainBench().make(asked, two_threads(), cpu_device)->parts().size() > 20);
    asked.set("tokens", "17");
    CHECK_THROWS_WITH(TrainBench().make(asked, two_threads(), cpu_device),
                      Catch::Contains("a sliding window of 16 tokens"));
    asked.set("phase", "decode");
    CHECK(TrainBench().make(asked, two_threads(), cpu_device)->parts().size() > 10);
    CHECK_THROWS_AS(TrainBench().unsupported_reason(point(data + "none.json", "1"), two_threads(), cpu_device), Error);
}

TEST_CASE("The remarks name and count a broken image, and the step continues")
{
    const test::TemporaryFolder folder;
    test::write_folder_of(folder.path(), 2, 2);
    test::write_text(folder.path() / "a" / "broken.jpg", "no JPEG");
    Step step(model::build_model("alexnet"), {.batch = 4, .threads = 2}, folder.path().string(), 1);
    CHECK(step.remarks().size() <= 1);
    const Clock clock = steady_clock();
    Trace trace(clock, step.parts().size());
    for (int launch = 0; launch < 2; ++launch) step.launch(trace);
    REQUIRE(step.remarks().size() == 1);
    CHECK_THAT(step.remarks()[0], Catch::Contains("1 broken image file(s) skipped") && Catch::Contains("broken.jpg"));
}
