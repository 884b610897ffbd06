// An estimate on a machine against arithmetic by hand, and against the placement of the same step.
#include "analysis/estimate/machine_estimate.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "made.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "workloads/model/work.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;
using Catch::StartsWith;

namespace {

/// 10 TFLOP/s, 1 TB/s of memory, and an L2 of 4 TB/s and 10 MB.
const std::string sheet_text = R"(
name: made-gpu
title: A made GPU
kind: gpu
also: [made]
models: [Made GPU 1]
peaks: {fp32: 10e12, tf32: 80e12}
levels:
  - {name: L2, bandwidth: 4e12, capacity: 10e6}
  - {name: DRAM, bandwidth: 1e12, capacity: 16e9}
links:
  - {name: wire, latency: 5e-6, bandwidth: 10e9}
sources: [made up]
)";

Target made_gpu()
{
    return target_of(parse_sheet(sheet_text, "made.yaml"));
}

EstimateRequest request(const std::string& model, int batch, Passes passes = Passes::train)
{
    EstimateRequest request;
    request.model = model;
    request.batch = batch;
    request.passes = passes;
    return request;
}

/// The sum over layers and passes of max(FLOPs / 10 TFLOP/s, compulsory bytes / 1 TB/s), from the work of the layers;
/// and the loss, which reads 1000 logits of an image and writes their gradients.
double by_hand(const std::string& model, int batch)
{
    const model::Graph graph = model::build_model(model);
    double seconds = batch * 1000 * (4 + 4) / 1e12;
    for (int index = 1; index < static_cast<int>(graph.layers().size()); ++index) {
        const model::LayerWork work = work_of(graph, index, batch, Precision::fp32);
        for (const model::PassWork& pass : {work.forward, work.backward_data, work.backward_weights, work.update})
            seconds += std::max(pass.flops.value / 10e12, pass.compulsory.value / 1e12);
    }
    return seconds;
}

}  // namespace

TEST_CASE("the time is the sum over layers and passes of the slower of arithmetic and memory")
{
    for (const char* model : {"alexnet", "resnet18", "vgg16"}) {
        INFO(model);
        const MachineEstimate estimate = estimate_on(made_gpu(), request(model, 8));
        CHECK(estimate.reason.empty());
        CHECK(estimate.known == Known::spec);
        CHECK(estimate.placed.attainable.value == Approx(by_hand(model, 8)));
        CHECK((estimate.forward + estimate.backward + estimate.update).value == Approx(by_hand(model, 8)));
        CHECK(estimate.at_once.attainable < estimate.placed.attainable);
        CHECK(estimate.images_per_second() == Approx(8 / by_hand(model, 8)));
    }
}

TEST_CASE("a forward pass is the forward part of the step")
{
    const MachineEstimate step = estimate_on(made_gpu(), request("resnet18", 16));
    const MachineEstimate forward = estimate_on(made_gpu(), request("resnet18", 16, Passes::forward));
    // But for the gradient of the logits.
    CHECK((step.forward - forward.placed.attainable).value == Approx(16 * 1000 * 4 / 1e12));
    CHECK(forward.backward.value == 0);
    CHECK(forward.footprint.total() < step.footprint.total());
}

TEST_CASE("each level has ridge point and intensity, nearest first")
{
    const MachineEstimate estimate = estimate_on(made_gpu(), request("resnet18", 10));
    REQUIRE(estimate.placed.levels.size() == 2);
    CHECK(estimate.placed.levels[0].level == "L2");
    CHECK(to_json(estimate)["levels"][0]["ridge"] == Approx(2.5));
    CHECK(to_json(estimate)["levels"][1]["ridge"] == Approx(10));
    const LevelPlacement& memory = estimate.placed.levels[1];
    const model::Graph graph = model::build_model("resnet18");
    Flops flops{};
    for (int i = 1; i < static_cast<int>(graph.layers().size()); ++i) {
        const model::LayerWork work = work_of(graph, i, 10, Precision::fp32);
        for (const auto& pass : {work.forward, work.backward_data, work.backward_weights, work.update})
            flops += pass.flops;
    }
    CHECK(memory.intensity_high.value == Approx(flops.value / memory.low.value));
    CHECK(memory.intensity_low < memory.intensity_high);
}

TEST_CASE("the bottleneck depends on the batch: parameters dominate AlexNet with few images")
{
    CHECK_FALSE(estimate_on(made_gpu(), request("alexnet", 1)).placed.binds_compute);
    CHECK(estimate_on(made_gpu(), request("alexnet", 512)).placed.binds_compute);
    CHECK(estimate_on(made_gpu(), request("alexnet", 512)).compute_share > 0.8);
}

TEST_CASE("without a peak of the precision the estimate has a reason, and memory is still estimated")
{
    EstimateRequest asked = request("resnet50", 4);
    asked.precision = Precision::int8;
    const MachineEstimate estimate = estimate_on(made_gpu(), asked);
    CHECK_THAT(estimate.reason, Contains("int8") && Contains("made-gpu"));
    CHECK(estimate.footprint.total().value > 0);
    CHECK(estimate.largest_batch > 0);
    CHECK(to_json(estimate)["images_per_s"].is_null());
}

TEST_CASE("the estimate on measured ceilings equals the attainable time of a measured step")
{
    Target target{.name = "made", .title = "made", .known = Known::measured, .device = "cpu"};
    target.machine = made::machine();
    target.ceilings = made::ceilings();
    const MachineEstimate estimate = estimate_on(target, request("resnet18", 4));
    CHECK(estimate.placed.levels.size() == 3);
    CHECK(estimate.placed.compute_roof.value == 100e9);
    CHECK(estimate.layers.size() > 100);
    Seconds sum;
    for (const Placement& layer : estimate.layers) sum += layer.attainable;
    CHECK(sum.value == Approx(estimate.placed.attainable.value));
}

TEST_CASE("a time has the interval that the roofs' intervals allow, open where a roof is a lower bound")
{
    Target target{.name = "made", .title = "made", .known = Known::measured, .device = "cpu"};
    target.machine = made::machine();
    target.ceilings = made::ceilings();
    for (Ceiling& roof : target.ceilings.all) {
        roof.rate.low = roof.rate.median * 0.8;
        roof.rate.high = roof.rate.median * 1.25;
        roof.typical = roof.rate.median.value / 2;
    }
    const MachineEstimate estimate = estimate_on(target, request("resnet18", 4));
    REQUIRE(estimate.layer_by_layer_range.low);
    CHECK(estimate.layer_by_layer_range.high->value == Approx(estimate.placed.attainable.value / 0.8));
    CHECK(estimate.layer_by_layer_range.low->value == Approx(estimate.placed.attainable.value / 1.25));
    target.ceilings.all.front().steadiness = Steadiness::at_least;  // the others with one thread are not asked
    target.ceilings.all[5].steadiness = Steadiness::at_least;
    const MachineEstimate bounded = estimate_on(target, request("resnet18", 4));
    CHECK_FALSE(bounded.layer_by_layer_range.low);
    CHECK(bounded.layer_by_layer_range.high == estimate.layer_by_layer_range.high);
    CHECK_THAT(to_text(std::vector{bounded}), Contains(" [?, "));
    CHECK(to_json(bounded)["layer_by_layer_low_s"].is_null());
    const MachineEstimate sheet = estimate_on(made_gpu(), request("resnet18", 4));
    CHECK_FALSE(sheet.layer_by_layer_range.high);
}

TEST_CASE("a prediction has the interval that measured steps reached, on a CPU's measured roofs alone")
{
    Target target{.name = "made", .title = "made", .known = Known::measured, .device = "cpu"};
    target.machine = made::machine();
    target.ceilings = made::ceilings();
    const MachineEstimate estimate = estimate_on(target, request("resnet18", 4));
    CHECK(*estimate.without_overlap_range.low == estimate.without_overlap * 0.86);
    CHECK(*estimate.without_overlap_range.high == estimate.without_overlap * 1.31);
    EstimateRequest asked = request("gpt2", 4, Passes::decode);
    asked.sizes["tokens"] = 64;
    const MachineEstimate decoded = estimate_on(target, asked);
    const double rate = 4 / decoded.without_overlap.value;
    CHECK_THAT(to_text(std::vector{decoded}), Contains(plain_number(rate) + " [" + plain_number(rate / 1.31) + ", " +
                                                       plain_number(rate / 0.86) + "]"));
    const MachineEstimate sheet = estimate_on(made_gpu(), request("resnet18", 4));
    CHECK_FALSE(sheet.without_overlap_range.low);
    CHECK_FALSE(sheet.without_overlap_range.high);
}

TEST_CASE("by the fastest algorithm, the interval begins at the fewest products of Winograd")
{
    Target target{.name = "made", .title = "made", .known = Known::measured, .device = "cpu"};
    target.machine = made::machine();
    target.ceilings = made::ceilings();
    EstimateRequest asked = request("vgg11", 4, Passes::forward);
    const MachineEstimate direct = estimate_on(target, asked);
    asked.by_fastest_algorithm = true;
    const MachineEstimate any = estimate_on(target, asked);
    CHECK(any.without_overlap == direct.without_overlap);
    CHECK(any.without_overlap_range.high == direct.without_overlap_range.high);
    // Maps of 224, 112, 56 and 28 are whole tiles of 4, with 36 products for 144. One of 14 has three tiles and a rest
    // of 2: 3 * 6 + 4 products along an axis for 3 * 14. The linear layers have as many as before.
    const auto products = [](double map, double in, double out) { return 9 * in * out * map * map; };
    const double whole = products(224, 3, 64) + products(112, 64, 128) + products(56, 128, 256) +
                         products(56, 256, 256) + products(28, 256, 512) + products(28, 512, 512);
    const double cut = 2 * products(14, 512, 512);
    const double fewer = whole * 3 / 4 + cut * (1 - 22.0 * 22 / (42 * 42));
    const Seconds saved = Flops{2 * 4 * fewer} / direct.placed.compute_roof;
    CHECK(any.without_overlap_range.low->value == Approx((direct.without_overlap - saved).value * 0.86));
}

TEST_CASE("a layer is estimated under the roof for its own reads and writes")
{
    Target target{.name = "made", .title = "made", .known = Known::measured, .device = "cpu"};
    target.machine = made::machine();
    target.ceilings = made::ceilings();
    std::erase_if(target.ceilings.all, [](const Ceiling& one) { return one.level == "DRAM"; });
    for (const auto& [operation, rate] : {std::pair{"load", 10e9}, {"store", 5e9}, {"update", 15e9}}) {
        target.ceilings.all.push_back(made::bandwidth("DRAM", 2, rate));
        target.ceilings.all.back().operation = operation;
    }
    const MachineEstimate estimate = estimate_on(target, request("resnet18", 64, Passes::forward));
    const auto add = std::ranges::find(estimate.layers, "layer1.0.add", &Placement::name);
    REQUIRE(add != estimate.layers.end());
    // Reads 64 maps of 64 x 56 x 56 numbers twice and writes them: as many written bytes are updated, the rest is
    // loaded.
    const double map = 64.0 * 64 * 56 * 56 * 4;
    CHECK(add->attainable.value == Approx(2 * map / 15e9 + map / 10e9));
    // The bandwidth that is shown is that of the whole step, and says of which mix.
    const LevelPlacement& memory = estimate.placed.levels.back();
    CHECK_THAT(memory.access, StartsWith("mix "));
    CHECK_THAT(to_text(std::vector{estimate}), Contains(format_si(memory.roof.value, "B/s") + ", " + memory.access));
    CHECK(to_json(estimate)["levels"].back()["access"] == memory.access);
    CHECK(to_json(estimate_on(made_gpu(), request("resnet18", 1)))["levels"][1]["access"].is_null());
}

TEST_CASE("of a network of tokens no epoch and no rate of images is said")
{
    EstimateRequest asked = request("gpt2", 2);
    asked.sizes["tokens"] = 64;
    const MachineEstimate estimate = estimate_on(made_gpu(), asked);
    const nlohmann::json json = to_json(estimate);
    for (const char* key : {"images_per_s", "epoch_images", "epoch_s"}) CHECK(json[key].is_null());
    CHECK(json["tokens_per_s"] == Approx(2 * 64 / estimate.placed.attainable.value));
    CHECK_THAT(to_text(std::vector{estimate}), !Contains("epoch"));
    CHECK(to_json(estimate_on(made_gpu(), request("resnet18", 2)))["tokens_per_s"].is_null());
}

TEST_CASE("a decoder's attention is placed by the FLOPs that its causal mask leaves")
{
    const fakes::TemporaryFolder folder;
    std::ofstream(folder / "gpt.json") << R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 1,
                                              "n_positions": 1024, "vocab_size": 100})";
    EstimateRequest asked = request((folder / "gpt.json").string(), 2);
    asked.sizes = {{"tokens", 1024}};
    const MachineEstimate estimate = estimate_on(made_gpu(), asked);
    const auto attention = std::ranges::find(estimate.layers, "h.0.attn", &Placement::name);
    REQUIRE(attention != estimate.layers.end());
    CHECK(attention->flops == Flops{2 * 4.0 * 1024 * 1024 * 768});
    CHECK(attention->attainable.value == Approx(2 * 4.0 * (1024.0 * 1025 / 2) * 768 / 10e12));
    CHECK(attention->levels.back().low == Bytes{2 * 4.0 * 4 * 1024 * 768});
    CHECK(estimate.footprint.parameters == Bytes{4.0 * (12 * 768 * 768 + 13 * 768 + 2 * 768 + (100 + 1024) * 768)});
    CHECK(estimate.footprint.gradients == estimate.footprint.parameters);
    CHECK(estimate.largest_batch > 2);
}

TEST_CASE("usual rates slow the prediction and leave the bounds unchanged")
{
    Target target = made_gpu();
    const MachineEstimate quiet = estimate_on(target, request("resnet18", 8));
    for (Ceiling& ceiling : target.ceilings.all) ceiling.typical = 0.5 * ceiling.rate.median.value;
    const MachineEstimate busy = estimate_on(target, request("resnet18", 8));
    CHECK(busy.without_overlap.value == Approx(2 * quiet.without_overlap.value));
    CHECK(busy.placed.attainable.value == quiet.placed.attainable.value);
    for (Ceiling& ceiling : target.ceilings.all) ceiling.typical = 2 * ceiling.rate.median.value;
    CHECK(estimate_on(target, request("resnet18", 8)).without_overlap.value == quiet.without_overlap.value);
}

TEST_CASE("on a GPU a prediction has a launch for each layer and pass")
{
    Target target = made_gpu();
    const MachineEstimate without = estimate_on(target, request("alexnet", 8, Passes::forward));
    const auto add_latency = [&](const std::string& level, double rate) {
        Ceiling& ceiling = target.ceilings.all.emplace_back();
        ceiling.device = target.device;
        ceiling.kind = Role::latency;
        ceiling.level = level;
        ceiling.rate = {{rate}, {rate}, {rate}};
    };
    add_latency("launch", 1 / 4e-6);
    CHECK(estimate_on(target, request("alexnet", 8, Passes::forward)).without_overlap == without.without_overlap);
    add_latency("graph", 1 / 5e-7);
    const MachineEstimate with = estimate_on(target, request("alexnet", 8, Passes::forward));
    // Five convolutions with a ReLU each, three linear layers with two, three maxima, two dropouts, the loss. The
    // average of 6x6 maps to 6x6 moves nothing.
    CHECK((with.without_overlap - without.without_overlap).value == Approx(21 * 5e-7));
    CHECK(with.placed.attainable == without.placed.attainable);
}

TEST_CASE("a ring all-reduce sends 2(N-1)/N of the bytes")
{
    const Link link{"wire", {5e-6}, {10e9}};
    CHECK(ring_all_reduce(Bytes{1e9}, 1, link).value == 0);
    CHECK(ring_all_reduce(Bytes{1e9}, 2, link).value == Approx(2 * 5e-6 + 0.1));
    CHECK(ring_all_reduce(Bytes{1e9}, 4, link).value == Approx(6 * 5e-6 + 1.5 * 0.1));
}

TEST_CASE("several devices add an all-reduce of the gradients, exposed or hidden by the backward pass")
{
    EstimateRequest asked = request("alexnet", 64);
    const MachineEstimate alone = estimate_on(made_gpu(), asked);
    asked.devices = 2;
    CHECK_THROWS_WITH(estimate_on(made_gpu(), asked), Contains("link"));
    asked.link = "rope";
    CHECK_THROWS_WITH(estimate_on(made_gpu(), asked), Contains("rope") && Contains("wire"));
    asked.link = "wire";
    const MachineEstimate both = estimate_on(made_gpu(), asked);
    REQUIRE(both.scaling);
    CHECK(both.footprint.gradients.value == 4.0 * 61100840);
    CHECK(both.scaling->exposed.value == Approx((alone.placed.attainable + both.scaling->all_reduce).value));
    CHECK(both.scaling->hidden < both.scaling->exposed);
    CHECK(both.images_per_second() == Approx(128 / both.scaling->exposed.value));
    asked.passes = Passes::forward;
    CHECK_THROWS_AS(estimate_on(made_gpu(), asked), InputError);
}

TEST_CASE("an epoch has as many whole steps as its images need")
{
    EstimateRequest asked = request("resnet18", 100);
    asked.images = 250;
    const MachineEstimate estimate = estimate_on(made_gpu(), asked);
    CHECK(estimate.epoch().value == Approx(3 * estimate.placed.attainable.value));
    CHECK(request("resnet18", 1).images == 1281167);
}

TEST_CASE("the text of an estimate states how each row is known, and fits 100 columns for two machines")
{
    std::vector<MachineEstimate> both{estimate_on(made_gpu(), request("resnet18", 10))};
    both.push_back(both.front());
    both.back().machine = "other-gpu";
    both.back().known = Known::measured;
    const std::string text = to_text(both);
    CHECK_THAT(text, Contains("made-gpu (spec)") && Contains("other-gpu (measured)") && Contains("analytic"));
    CHECK_THAT(text, Contains("DRAM ridge point") && Contains("largest batch that fits") && Contains("1281167 images"));
    for (const std::string& line : split(text, '\n')) {
        INFO(line);
        CHECK(line.size() <= 100);
    }
}

TEST_CASE("an estimate marks the roofs that are lower bounds, and no others")
{
    Target target = made_gpu();
    for (Ceiling& ceiling : target.ceilings.all)
        if (ceiling.level == "DRAM" || ceiling.precision == "tf32") ceiling.steadiness = Steadiness::at_least;
    const auto text_in = [&](Precision precision) {
        EstimateRequest asked = request("resnet18", 10);
        asked.precision = precision;
        return to_text(std::vector{estimate_on(target, asked)});
    };
    const std::string text = text_in(Precision::fp32);
    CHECK_THAT(text, Contains("≥ 1.00 TB/s") && Contains("  4.00 TB/s") && Contains("  10.0 TFLOP/s"));
    CHECK_THAT(text_in(Precision::tf32), Contains("≥ 80.0 TFLOP/s") && Contains("≥ 1.00 TB/s"));
    const nlohmann::json json = to_json(estimate_on(target, request("resnet18", 10)));
    CHECK(json["peak_is_lower_bound"] == false);
    CHECK(json["levels"][0]["is_lower_bound"] == false);
    CHECK(json["levels"][1]["is_lower_bound"] == true);
}

TEST_CASE("the JSON of an estimate has SI units, and layers with their bottlenecks")
{
    const nlohmann::json json = to_json(estimate_on(made_gpu(), request("resnet18", 10)));
    CHECK(json["roofs_known"] == "spec");
    CHECK(json["peak_flop_per_s"] == 10e12);
    CHECK(json["levels"][1]["ridge"] == Approx(10));
    CHECK(json["memory"]["device_bytes"] == 16e9);
    CHECK(json["memory"]["fits"] == true);
    CHECK(json["scaling"].is_null());
    CHECK(json["layers"][0]["layer"] == "conv1");
    CHECK(json["layers"][0]["phase"] == "forward");
    CHECK(json["layers"][0]["binds"] == "fp32");
}

TEST_CASE("a sheet with an unknown key, a missing source or an invalid number is refused with its line")
{
    CHECK_THROWS_WITH(parse_sheet("name: a\ntitel: b\n", "m.yaml"), Contains("m.yaml:2") && Contains("'title'"));
    std::string text = sheet_text;
    CHECK_THROWS_WITH(parse_sheet(text.replace(text.find("4e12"), 4, "fast"), "m.yaml"),
                      Contains("m.yaml:9") && Contains("bandwidth"));
    text = sheet_text;
    CHECK_THROWS_WITH(parse_sheet(text.erase(text.find("sources")), "m.yaml"), Contains("sources"));
    text = sheet_text;
    CHECK_THROWS_WITH(parse_sheet(text.replace(text.find("fp32"), 4, "fp31"), "m.yaml"), Contains("fp32"));
}
