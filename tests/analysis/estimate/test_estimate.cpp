// The numbers of an estimate against torchvision's, its JSON keys, and its table for people.
#include "analysis/estimate/estimate.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

TEST_CASE("an estimate's FLOPs are twice its multiply-adds, and a step is the sum of its three passes")
{
    const nlohmann::json estimate = to_json(estimate_model({"resnet50", 16, Precision::fp32}));
    CHECK(estimate["model"] == "resnet50");
    CHECK(estimate["batch"] == 16);
    CHECK(estimate["precision"] == "fp32");
    CHECK(estimate["parameters"] == 25557032);
    CHECK(estimate["multiply_adds"] == 16 * 4089184256LL);
    CHECK(estimate["flops"]["forward"] == 16 * 8178368512LL);
    CHECK(estimate["flops"]["backward_data"] == 16 * 7942340608LL);
    CHECK(estimate["flops"]["backward_weights"] == 16 * 8178368512LL);
    CHECK(estimate["flops"]["elementwise"] == 16 * (105745920LL + 137682944LL + 5 * 1000));  // the loss last
    CHECK(estimate["flops"]["step"] == 16 * 24299077632LL);
}

TEST_CASE("every count in an estimate's JSON is an integer")
{
    const nlohmann::json estimate = to_json(estimate_model({"vgg19_bn", 256, Precision::bf16}));
    for (const char* key : {"batch", "parameters", "multiply_adds"}) CHECK(estimate[key].is_number_integer());
    for (const char* key : {"flops", "bytes"}) {
        for (const auto& [name, value] : estimate[key].items()) {
            INFO(key << "." << name);
            if (value.is_boolean()) continue;  // whether the others are lower bounds
            CHECK(value.is_number_integer());
            CHECK(value > 0);
        }
    }
    for (const auto& layer : estimate["layers"]) {
        CHECK(layer["parameters"].is_number_integer());
        CHECK(layer["forward_flops"].is_number_integer());
        CHECK(layer["forward_bytes"].is_number_integer());
    }
}

TEST_CASE("the layers of an estimate have names, kinds and shapes, and vectors after the flatten")
{
    const nlohmann::json layers = to_json(estimate_model({"alexnet", 8, Precision::fp32}))["layers"];
    REQUIRE(layers.size() == 23);
    const nlohmann::json first = {{"name", "features.0"},
                                  {"kind", "convolution"},
                                  {"parameters", 23296},
                                  {"output_shape", {8, 64, 55, 55}},
                                  {"forward_flops", 8 * 140553600LL},
                                  {"forward_bytes", 4 * (8 * 150528LL + 23296 + 8 * 193600LL)}};
    CHECK(layers.front() == first);
    CHECK(layers[13]["output_shape"] == nlohmann::json({8, 256, 6, 6}));
    CHECK(layers[14]["name"] == "flatten");
    CHECK(layers[14]["output_shape"] == nlohmann::json({8, 9216}));
    CHECK(layers[15]["output_shape"] == nlohmann::json({8, 9216}));
    CHECK(layers[21]["output_shape"] == nlohmann::json({8, 1000}));
    const nlohmann::json loss = {{"name", "loss"},
                                 {"kind", "softmax_cross_entropy"},
                                 {"parameters", 0},
                                 {"output_shape", nlohmann::json::array()},
                                 {"forward_flops", 8 * 1000 * 5},
                                 {"forward_bytes", 8 * 1000 * (4 + 4)}};
    CHECK(layers.back() == loss);
}

TEST_CASE("the bytes of an estimate are the sums over its layers")
{
    const ModelEstimate estimate = estimate_model({"resnet18", 2, Precision::fp32});
    const nlohmann::json json = to_json(estimate);
    long long forward = 0;
    for (const auto& layer : json["layers"]) forward += layer["forward_bytes"].get<long long>();
    CHECK(json["bytes"]["compulsory_forward"] == forward);
    CHECK(json["bytes"]["compulsory_update"] == 233790240);
    CHECK(json["bytes"]["no_reuse_forward"] > forward);
}

TEST_CASE("the elementwise FLOPs of an estimate have the additions of an embedding's gradient")
{
    const std::string model =
        "{name: small, image: [1, 1, 4], layers: [{embedding: {vocabulary: 10, channels: 8}}, {linear: {features: 10, "
        "each_position: true}}]}";
    CHECK(to_json(estimate_model({model, 3, Precision::fp32}))["flops"]["elementwise"] ==
          3 * 4 * (8 + 5 * 10));  // and the loss
}

TEST_CASE("the loss of an estimate is that of measured steps: fp32 logits read, their gradient written in training")
{
    // 50,257 scores of each of 2 x 64 tokens.
    const double scores = 2.0 * 64 * 50257;
    const auto loss_of = [](Passes passes, Precision precision) {
        return estimate_model({.model = "gpt2",
                               .batch = 2,
                               .precision = precision,
                               .passes = passes,
                               .optimizer = model::Optimizer::adamw,
                               .sizes = {{"tokens", 64}}})
            .layers.back();
    };
    const LayerEstimate trained = loss_of(Passes::train, Precision::bf16);
    CHECK(trained.name == "loss");
    CHECK(trained.work.forward.flops.value == 5 * scores);
    CHECK(trained.work.forward.compulsory.value == 6 * scores);
    CHECK(trained.work.forward.written.value == 2 * scores);
    CHECK(trained.work.backward_data.compulsory.value == 0);
    CHECK(loss_of(Passes::train, Precision::fp32).work.forward.compulsory.value == 8 * scores);
    const LayerEstimate forward = loss_of(Passes::forward, Precision::fp32);
    CHECK(forward.work.forward.flops.value == 3 * scores);
    CHECK(forward.work.forward.compulsory.value == 4 * scores);
    CHECK(loss_of(Passes::decode, Precision::fp32).work.forward.compulsory.value == 4.0 * 2 * 50257);
}

TEST_CASE("a decoded token of an ONNX file is refused, and not counted by the operators of all positions")
{
    const std::string file = ROOF_TEST_DATA "/../model/data/onnx/gpt_small.onnx";
    CHECK_THROWS_AS(estimate_model({.model = file, .passes = Passes::decode}), InputError);
}

TEST_CASE("an estimate with AdamW has its update's bytes and FLOPs, and one more average of each parameter")
{
    constexpr long long parameters = 11689512;
    const ModelEstimate estimate =
        estimate_model({.model = "resnet18", .batch = 2, .optimizer = model::Optimizer::adamw});
    const ModelEstimate by_sgd = estimate_model({"resnet18", 2, Precision::fp32});
    CHECK(to_json(estimate)["bytes"]["compulsory_update"] == 28 * parameters);
    CHECK(to_json(estimate)["optimizer"] == "adamw");
    CHECK(estimate.flops.update.value == 14.0 * parameters);
    CHECK((estimate.step_memory.total() - by_sgd.step_memory.total()).value == 4.0 * parameters);
    CHECK(estimate.forward_memory.total() == by_sgd.forward_memory.total());
    CHECK_THAT(to_text(estimate), Contains("update, adamw"));
}

TEST_CASE("the text of an estimate names MACs and FLOPs, has analytic in each row, and fits 100 columns")
{
    for (const std::string model : {"alexnet", "resnet152"}) {
        const std::string text = to_text(estimate_model({model, 256, Precision::fp32}));
        CHECK_THAT(text, Contains(model + " at batch 256 in fp32") && Contains("MACs") && Contains("FLOPs"));
        int rows = 0;
        for (const std::string& line : split(text, '\n')) {
            INFO(line);
            CHECK(line.size() <= 100);
            if (trim(line).ends_with("analytic")) ++rows;
        }
        CHECK(rows > 16);
    }
    const std::string text = to_text(estimate_model({"resnet50", 1, Precision::fp32}));
    CHECK_THAT(text, Contains("25557032 parameters") && Contains("4.09 G") && Contains("8.18 G") && Contains("24.3 G"));
    CHECK_THAT(text, Contains("; 3.4% of the forward MACs fall on padding"));
    CHECK_THAT(text, Contains("batch_norm, all 53") && Contains("layer4.2.conv3"));
}

TEST_CASE("a batch below one and an unknown model are input errors")
{
    CHECK_THROWS_AS(estimate_model({"resnet18", 0, Precision::fp32}), InputError);
    CHECK_THROWS_AS(estimate_model({"resnet", 1, Precision::fp32}), InputError);
}
