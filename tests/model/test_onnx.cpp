// Networks from ONNX files. The files in data/onnx are torchvision's networks as PyTorch 2.13 exports them, without the
// values of the weights; data/onnx/README.md says how they were made.
#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/work.hpp"

#include <onnx/onnx_pb.h>

#include <catch2/catch.hpp>

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace roof;
using namespace roof::model;

namespace {

Graph network(const std::string& name)
{
    return build_model(std::string(ROOF_TEST_DATA) + "/data/onnx/" + name + ".onnx");
}

/// A network of one input of 3x8x8 and one output.
onnx::ModelProto small_network()
{
    onnx::ModelProto model;
    auto& input = *model.mutable_graph()->add_input();
    input.set_name("images");
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.add_dim()->set_dim_param("batch");
    for (const int extent : {3, 8, 8}) shape.add_dim()->set_dim_value(extent);
    model.mutable_graph()->add_output()->set_name("logits");
    return model;
}

void add_node(onnx::ModelProto& model, const std::string& operation, const std::vector<std::string>& inputs,
              const std::string& output)
{
    onnx::NodeProto& node = *model.mutable_graph()->add_node();
    node.set_op_type(operation);
    node.set_name("at " + output);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
}

void add_weights(onnx::ModelProto& model, const std::string& name, const std::vector<int>& dims)
{
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const int extent : dims) tensor.add_dims(extent);
}

/// The message of the refusal, or nothing.
std::string refusal_of(const onnx::ModelProto& model)
{
    const auto file = std::filesystem::temp_directory_path() / ("roof_" + std::to_string(getpid()) + "_made.onnx");
    std::ofstream out(file, std::ios::binary);
    model.SerializeToOstream(&out);
    out.close();
    std::string message;
    try {
        build_model(file.string());
    } catch (const InputError& error) {
        message = error.what();
    }
    std::filesystem::remove(file);
    return message;
}

}  // namespace

TEST_CASE("A network exported from torchvision is the built-in one to the layer")
{
    for (const std::string name : {"alexnet", "resnet18"}) {
        INFO(name);
        const Graph built_in = build_model(name);
        const Graph read = network(name);
        REQUIRE(read.layers().size() == built_in.layers().size());
        for (int index = 0; index < static_cast<int>(read.layers().size()); ++index) {
            INFO(read.layer(index).name);
            CHECK(read.layer(index).kind == built_in.layer(index).kind);
            CHECK(read.layer(index).output == built_in.layer(index).output);
            const LayerWork found = work_of(read, index, 8, Precision::fp32);
            const LayerWork due = work_of(built_in, index, 8, Precision::fp32);
            CHECK(found.forward.flops == due.forward.flops);
            CHECK(found.forward.compulsory == due.forward.compulsory);
            CHECK(found.backward_data.flops == due.backward_data.flops);
        }
        REQUIRE(read.parameters().size() == built_in.parameters().size());
        for (std::size_t k = 0; k < read.parameters().size(); ++k) {
            CHECK(read.parameters()[k].name == built_in.parameters()[k].name);
            CHECK(read.parameters()[k].shape == built_in.parameters()[k].shape);
        }
    }
}

TEST_CASE("Parameters and FLOPs of a forward pass are those that PyTorch counts")
{
    const CsvTable truth = read_csv(std::string(ROOF_TEST_DATA) + "/data/onnx/truth.csv");
    CHECK(truth.rows.size() == 5);
    for (const std::vector<std::string>& row : truth.rows) {
        INFO(row[0]);
        const Graph graph = network(row[0]);
        CHECK(graph.parameter_count() == std::stoll(row[1]));
        CHECK(work_of(graph, 1, Precision::fp32).forward == Flops{std::stod(row[2])});
    }
}

TEST_CASE("A window in ceil mode may end outside the map, but begins inside it or its padding")
{
    Graph net("pools", {4, 7, 6});
    const Window three{.size = 3, .stride = 2, .padding = 0};
    CHECK(net.layer(net.max_pool("floor", 0, three)).output == Shape{4, 3, 2});
    CHECK(net.layer(net.max_pool("ceil", 0, three, true)).output == Shape{4, 3, 3});
    CHECK(net.layer(net.max_pool("padded", 0, {.size = 2, .stride = 2, .padding = 1}, true)).output == Shape{4, 4, 4});
}

TEST_CASE("A batch norm that was folded into its convolution leaves a bias")
{
    const Graph folded = network("resnet18_folded");
    const Graph whole = build_model("resnet18");
    const auto norms = [](const Graph& graph) {
        return std::ranges::count(graph.layers(), LayerKind::batch_norm, &Layer::kind);
    };
    CHECK(norms(whole) == 20);
    CHECK(norms(folded) == 0);
    CHECK(folded.parameter_count() == whole.parameter_count() - 4800);
    CHECK(work_of(folded, 1, Precision::fp32).step() == work_of(whole, 1, Precision::fp32).step());
}

TEST_CASE("Operators that are not known are refused with their places")
{
    onnx::ModelProto model = small_network();
    add_node(model, "Einsum", {"images"}, "a");
    add_node(model, "Relu", {"a"}, "b");
    add_node(model, "Erf", {"b"}, "logits");
    CHECK_THAT(refusal_of(model), Catch::Contains("Einsum at 'at a'; Erf at 'at logits'"));
}

TEST_CASE("A network that does not end in one value per class, or has two inputs, is refused")
{
    onnx::ModelProto model = small_network();
    add_node(model, "Relu", {"images"}, "logits");
    CHECK_THAT(refusal_of(model), Catch::Contains("does not end in one value per class"));
    model.mutable_graph()->add_input()->set_name("more");
    CHECK_THAT(refusal_of(model), Catch::Contains("2 inputs"));
}

TEST_CASE("A layer that nothing reads is refused")
{
    onnx::ModelProto model = small_network();
    add_weights(model, "fc.weight", {10, 192});
    add_weights(model, "fc.bias", {10});
    add_node(model, "Relu", {"images"}, "unread");
    add_node(model, "Flatten", {"images"}, "flat");
    add_node(model, "Gemm", {"flat", "fc.weight", "fc.bias"}, "logits");
    CHECK_THAT(refusal_of(model), Catch::Contains("Gemm of 10 inputs"));
    auto& transposed = *model.mutable_graph()->mutable_node(2)->add_attribute();
    transposed.set_name("transB");
    transposed.set_i(1);
    CHECK_THAT(refusal_of(model), Catch::Contains("nothing reads the layer 'at unread'"));
}

TEST_CASE("A file that is missing or no network is an error of the user")
{
    CHECK_THROWS_WITH(network("missing"), Catch::Contains("missing.onnx"));
    const auto file = std::filesystem::temp_directory_path() / ("roof_" + std::to_string(getpid()) + "_text.onnx");
    std::ofstream(file) << "no network";
    CHECK_THROWS_WITH(build_model(file.string()), Catch::Contains("is no ONNX file"));
    std::filesystem::remove(file);
}
