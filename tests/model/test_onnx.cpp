// Networks from ONNX files. The files in data/onnx are torchvision's networks as PyTorch 2.13 exports them, without the
// values of the weights; data/onnx/README.md says how they were made.
#include "ert/base/error.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "tests/fakes/read_csv.hpp"
#include "tests/model/made_onnx.hpp"
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
using namespace roof::tests;

namespace {

Graph network(const std::string& name)
{
    return build_model(std::string(ROOF_TEST_DATA) + "/data/onnx/" + name + ".onnx");
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
    CHECK(truth.rows.size() == 8);
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

TEST_CASE("A channel shuffle of two groups is one layer, with shapes computed by the file or constant")
{
    const Graph traced = network("shufflenet_v2_x1_0");
    const Graph folded = network("shufflenet_v2_x1_0_folded");
    CHECK(work_of(folded, 1, Precision::fp32).step() == work_of(traced, 1, Precision::fp32).step());
    for (const Graph& graph : {traced, folded}) {
        const auto count = [&](LayerKind kind) { return std::ranges::count(graph.layers(), kind, &Layer::kind); };
        CHECK(count(LayerKind::shuffle) == 16);
        CHECK(count(LayerKind::slice) == 26);
        const auto shuffle = std::ranges::find(graph.layers(), LayerKind::shuffle, &Layer::kind);
        REQUIRE(shuffle->order.size() == 116);
        CHECK(std::vector(shuffle->order.begin(), shuffle->order.begin() + 4) == std::vector{0, 58, 1, 59});
        for (const int first : {0, 58})
            CHECK(std::ranges::count_if(graph.layers(), [&](const Layer& layer) {
                      return layer.kind == LayerKind::slice && layer.first == first && layer.output.channels == 58;
                  }) == 3);
    }
}

TEST_CASE("A product with constant weights is a linear layer, and the constant added behind it its bias")
{
    onnx::ModelProto model = small_network();
    add_weights(model, "w", {7, 192});
    add_weights(model, "b", {7});
    add_node(model, "Flatten", {"images"}, "flat");
    add_node(model, "Transpose", {"w"}, "turned");
    add_node(model, "MatMul", {"flat", "turned"}, "product");
    add_node(model, "Add", {"b", "product"}, "hidden");
    add_weights(model, "last.weight", {7, 10});
    add_node(model, "MatMul", {"hidden", "last.weight"}, "logits");
    const Graph graph = read(model);
    CHECK(graph.parameter_count() == 7 * 192 + 7 + 70);
    CHECK(graph.layers().back().name == "last");
}

TEST_CASE("A vision transformer as exporters write it has the layers of the one that is written by hand")
{
    const Graph whole = ir::vision_network(224, 32, 48, 3, 1000);
    const auto kinds = [](const Graph& graph) {
        std::vector<LayerKind> all = kinds_of(graph);
        std::erase_if(all, [](LayerKind kind) { return kind == LayerKind::dropout || kind == LayerKind::flatten; });
        return all;
    };
    for (const char* file : {"vit_traced", "vit_dynamo"}) {
        INFO(file);
        const Graph graph = network(file);
        CHECK(kinds(graph) == kinds(whole));
        CHECK(graph.parameter_count() == whole.parameter_count() - 2 * (2 * 48 * 96 + 96));  // half as wide products
        const auto attention = std::ranges::find(graph.layers(), LayerKind::attention, &Layer::kind);
        REQUIRE(attention != graph.layers().end());
        CHECK((attention->heads == 3 && !attention->causal && attention->output.channels == 48));
    }
}

TEST_CASE("BERT's last layer reads the embedding's weights, and its token types are one value for all positions")
{
    for (const char* file : {"bert_traced", "bert_dynamo"}) {
        INFO(file);
        const Graph graph = network(file);
        CHECK(graph.vocabulary() == 1000);
        CHECK(graph.labels_each() == 40);
        CHECK(graph.layers().back().weights_of == 1);
        // Words, types and positions that are read; the first norm; two blocks; the head's product, norm and bias.
        const long long block = 4 * (48 * 48 + 48) + 2 * 48 * 96 + 96 + 48 + 4 * 48;
        CHECK(graph.parameter_count() == (1000 + 1 + 40) * 48 + 96 + 2 * block + 48 * 48 + 48 + 96 + 1000);
    }
}

TEST_CASE("Lists of integers and zeros in a file beside the network are read there")
{
    const fakes::TemporaryFolder folder;
    onnx::ModelProto model;
    std::ifstream in(std::string(ROOF_TEST_DATA) + "/data/onnx/bert_dynamo.onnx", std::ios::binary);
    REQUIRE(model.ParseFromIstream(&in));
    std::ofstream beside(folder / "made.data", std::ios::binary);
    for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
        if (tensor.raw_data().empty()) continue;
        const auto add = [&](const std::string& key, const std::string& value) {
            onnx::StringStringEntryProto& entry = *tensor.add_external_data();
            entry.set_key(key);
            entry.set_value(value);
        };
        add("location", "made.data");
        add("offset", std::to_string(beside.tellp()));
        beside << tensor.raw_data();
        tensor.clear_raw_data();
        tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    }
    beside.close();
    std::ofstream(folder / "made.onnx", std::ios::binary) << model.SerializeAsString();
    CHECK(build_model((folder / "made.onnx").string()).parameter_count() == network("bert_dynamo").parameter_count());
    std::filesystem::remove(folder / "made.data");
    CHECK_THROWS_AS(build_model((folder / "made.onnx").string()), InputError);
}

TEST_CASE("A network that does not end in one value per class, or has two inputs, is refused")
{
    onnx::ModelProto model = small_network();
    add_numbers(model, "shape", {-1, 24, 8});
    add_node(model, "Relu", {"images"}, "x");
    add_node(model, "Reshape", {"x", "shape"}, "logits");
    CHECK_THAT(refusal_of(model), Catch::Contains("does not end in one value per class"));
    model.mutable_graph()->add_input()->set_name("more");
    CHECK_THAT(refusal_of(model), Catch::Contains("2 inputs"));
}

TEST_CASE("A network that ends in a map has a label for each position, also of a map that is resized")
{
    onnx::ModelProto model = small_network();
    add_weights(model, "w", {5, 3, 3, 3});
    add_node(model, "Conv", {"images", "w"}, "small");
    add_numbers(model, "size", {1, 5, 9, 8});
    add_node(model, "Resize", {"small", "", "", "size"}, "logits");
    CHECK_THAT(refusal_of(model), Catch::Contains("Resize with mode nearest at 'at logits'"));
    set_word(model, "mode", "linear");
    const Graph graph = read(model);
    CHECK(kinds_of(graph) == std::vector{LayerKind::input, LayerKind::convolution, LayerKind::resize});
    CHECK(graph.layers().back().output == model::Shape{5, 9, 8});
    CHECK(graph.labels_each() == 72);
    set_word(model, "coordinate_transformation_mode", "align_corners");
    CHECK_THAT(refusal_of(model), Catch::Contains("Resize with places by align_corners"));
}

TEST_CASE("An operator whose result the output does not need is left out")
{
    onnx::ModelProto model = small_network();
    add_weights(model, "fc.weight", {10, 192});
    add_weights(model, "fc.bias", {10});
    add_node(model, "Einsum", {"images"}, "unread");
    add_node(model, "Flatten", {"images"}, "flat");
    add_node(model, "Gemm", {"flat", "fc.weight", "fc.bias"}, "logits");
    CHECK_THAT(refusal_of(model), Catch::Contains("Gemm of 10 inputs"));
    auto& transposed = *model.mutable_graph()->mutable_node(2)->add_attribute();
    transposed.set_name("transB");
    transposed.set_i(1);
    CHECK(kinds_of(read(model)) == std::vector{LayerKind::input, LayerKind::flatten, LayerKind::linear});
}

TEST_CASE("A file that is missing or no network is an error of the user")
{
    CHECK_THROWS_WITH(network("missing"), Catch::Contains("missing.onnx"));
    const auto file = std::filesystem::temp_directory_path() / ("roof_" + std::to_string(getpid()) + "_text.onnx");
    std::ofstream(file) << "no network";
    CHECK_THROWS_WITH(build_model(file.string()), Catch::Contains("is no ONNX file"));
    std::ofstream(file) << small_network().SerializeAsString() << "no network";
    CHECK_THROWS_WITH(build_model(file.string()), Catch::Contains("is no ONNX file"));
    std::ofstream(file) << "";
    CHECK_THROWS_WITH(build_model(file.string()), Catch::Contains("is no ONNX file"));
    std::filesystem::remove(file);
}
