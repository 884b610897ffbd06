// What the reader of ONNX files takes for what: weights, domains, axes, types of numbers, extents.
#include "tests/model/made_onnx.hpp"
#include "workloads/model/work.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::model;
using namespace roof::tests;

TEST_CASE("Weights that two layers share are refused, since they would be trained apart")
{
    onnx::ModelProto model = small_network();
    add_weights(model, "c.weight", {3, 3, 3, 3});
    add_node(model, "Conv", {"images", "c.weight"}, "once");
    set_numbers(model, "pads", {1, 1, 1, 1});
    add_node(model, "Identity", {"c.weight"}, "same");
    add_node(model, "Conv", {"once", "same"}, "twice");
    add_end(model, "twice", 3);
    CHECK_THAT(refusal_of(model),
               Catch::Contains("Conv with the weights of 'at once', which would be trained apart at 'at twice'"));
}

namespace {

/// Twice the batch norm of these gains, which have these numbers.
std::string refusal_of_norms(const std::string& place, const std::string& gain, const std::vector<float>& numbers)
{
    onnx::ModelProto model = small_network();
    for (const char* name : {"gain", "shift", "other shift", "mean", "variance"}) add_weights(model, name, {3});
    for (const float number : numbers) model.mutable_graph()->mutable_initializer(0)->add_float_data(number);
    add_node(model, "Constant", {}, "constant");
    auto& value = *model.mutable_graph()->mutable_node(0)->add_attribute();
    value.set_name("value");
    *value.mutable_t() = model.graph().initializer(0);
    add_node(model, "BatchNormalization", {"images", "gain", "shift", "mean", "variance"}, "once");
    model.mutable_graph()->mutable_node(1)->set_name(place + "once");
    add_node(model, "Identity", {"gain"}, "same gain");
    add_node(model, "BatchNormalization", {"once", gain, "other shift", "mean", "variance"}, "twice");
    model.mutable_graph()->mutable_node(3)->set_name(place + "twice");
    add_end(model, "twice", 3);
    try {
        read(model);
        return "";
    } catch (const InputError& error) {
        return error.what();
    }
}

}  // namespace

// Values by PyTorch: two norms of one module share their gain; a norm without `affine`, which exporters write with ones
// of an operator Constant, trains none. The exporter dynamo joins tensors of equal numbers, as new norms have them.
TEST_CASE("A norm trains its gain alone, and none that an operator Constant has")
{
    const std::string shared =
        "BatchNormalization with the weights of '/once', which would be trained apart at '/twice'";
    const std::vector<float> ones{1, 1, 1}, others{1, 2, 1};
    CHECK_THAT(refusal_of_norms("/", "gain", ones), Catch::Contains(shared));
    CHECK_THAT(refusal_of_norms("/", "gain", others), Catch::Contains(shared));
    CHECK_THAT(refusal_of_norms("/", "same gain", others), Catch::Contains(shared));
    CHECK_THAT(refusal_of_norms("node_", "gain", others),
               Catch::Contains("which would be trained apart at 'node_twice'"));
    CHECK(refusal_of_norms("/", "same gain", ones).empty());
    CHECK(refusal_of_norms("node_", "gain", ones).empty());
    CHECK(refusal_of_norms("node_", "gain", {}).empty());
    CHECK_THAT(
        refusal_of_norms("/", "constant", ones),
        Catch::Contains("BatchNormalization with numbers that do not train, of an operator Constant at '/twice'"));
}

TEST_CASE("An operator of another domain is another operator")
{
    onnx::ModelProto model = small_network();
    add_node(model, "Relu", {"images"}, "x");
    add_end(model, "x", 3);
    model.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
    CHECK(read(model).layer(1).kind == LayerKind::relu);
    model.mutable_graph()->mutable_node(0)->set_domain("other");
    CHECK_THAT(refusal_of(model), Catch::Contains("other.Relu at 'at x'"));
}

TEST_CASE("Numbers of operators are read as doubles, halves and integers of 32 bits, and refused where they are absent")
{
    onnx::ModelProto twice = small_network();
    add_weights(twice, "ratio", {});
    auto& ratio = *twice.mutable_graph()->mutable_initializer()->rbegin();
    ratio.set_data_type(onnx::TensorProto::DOUBLE);
    ratio.add_double_data(0.2);
    add_node(twice, "Dropout", {"images", "ratio"}, "dropped");
    add_end(twice, "dropped", 3);
    CHECK(read(twice).layer(1).dropout == 0.2F);
    onnx::ModelProto model = small_network();
    for (const auto& [name, bits] : {std::pair{"zero", 0}, {"six", 0x4600}}) {
        add_weights(model, name, {});
        auto& tensor = *model.mutable_graph()->mutable_initializer()->rbegin();
        tensor.set_data_type(onnx::TensorProto::FLOAT16);
        tensor.add_int32_data(bits);
    }
    add_node(model, "Clip", {"images", "zero", "six"}, "clipped");
    for (const auto& [name, value] : {std::pair{"from", 1}, {"to", 3}, {"axis", -3}}) {
        add_weights(model, name, {1});
        auto& tensor = *model.mutable_graph()->mutable_initializer()->rbegin();
        tensor.set_data_type(onnx::TensorProto::INT32);
        tensor.add_int32_data(value);
    }
    add_node(model, "Slice", {"clipped", "from", "to", "axis"}, "cut");
    add_end(model, "cut", 2);
    const Graph graph = read(model);
    CHECK(graph.layer(1).kind == LayerKind::relu6);
    CHECK((graph.layer(2).first == 1 && graph.layer(2).output == Shape{2, 8, 8}));
}

TEST_CASE("Extents beyond 2^31 - 1, and more than 2^62 multiply-adds, are refused")
{
    onnx::ModelProto model = small_network();
    add_weights(model, "c.weight", {4, 3, 3, 3});
    model.mutable_graph()->mutable_initializer(0)->set_dims(0, 1LL << 31);
    add_node(model, "Conv", {"images", "c.weight"}, "map");
    add_end(model, "map", 4);
    CHECK_THAT(refusal_of(model), Catch::Contains("Conv of 2147483648 values along an axis"));
    Graph graph("wide", {3, 65536, 65536});
    graph.convolution("c", 0, 1 << 20, {.size = 3, .stride = 1, .padding = 1}, false);
    CHECK(work_of(graph, 1, 1, Precision::fp32).multiply_adds == (1LL << 52) * 27);
    CHECK_THROWS_WITH(work_of(graph, 1, 1024, Precision::fp32), Catch::Contains("c has more than 2^62 multiply-adds"));
}
