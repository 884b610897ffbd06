// Networks by their operators: shapes, FLOPs and parameters by hand, and beside the reader of networks that are trained here.
#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "tests/model/made_onnx.hpp"
#include "workloads/model/operations.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>

using namespace roof;
using namespace roof::model;
using namespace roof::tests;

namespace {

Operations operations(const onnx::ModelProto& model, const Sizes& sizes = {})
{
    const fakes::TemporaryFolder folder;
    std::ofstream out(folder / "made.onnx", std::ios::binary);
    model.SerializeToOstream(&out);
    out.close();
    return read_onnx_operations(folder / "made.onnx", sizes);
}

std::string refusal(const onnx::ModelProto& model, const Sizes& sizes = {})
{
    try {
        operations(model, sizes);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

const Operation& of_kind(const Operations& all, const std::string& kind)
{
    const auto found = std::ranges::find(all.all, kind, &Operation::kind);
    INFO(kind);
    REQUIRE(found != all.all.end());
    return *found;
}

using Extents = std::vector<long long>;

/// A network of one input of these extents, the first of which is open.
onnx::ModelProto network_of(const std::vector<int>& extents)
{
    onnx::ModelProto model = small_network();
    auto& shape = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.mutable_dim()->DeleteSubrange(1, 3);
    for (const int extent : extents) shape.add_dim()->set_dim_value(extent);
    model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::FLOAT);
    return model;
}

double contractions(const Operations& all)
{
    double flops = 0;
    for (const Operation& one : all.all) flops += one.is_contraction ? one.flops : 0;
    return flops;
}

}  // namespace

TEST_CASE("By operators a network has the parameters and FLOPs that PyTorch counts, as by its layers")
{
    const std::string place = std::string(ROOF_TEST_DATA) + "/data/onnx/";
    std::vector<std::vector<std::string>> rows = read_csv(place + "truth.csv").rows;
    std::ranges::copy(read_csv(place + "operators.csv").rows, std::back_inserter(rows));
    CHECK(rows.size() == 12);
    for (const std::vector<std::string>& row : rows) {
        INFO(row[0]);
        const Operations all = read_onnx_operations(place + row[0] + ".onnx", {});
        CHECK(all.parameters == std::stoll(row[1]));
        CHECK(contractions(all) / all.batch == std::stod(row[2]));
    }
}

TEST_CASE("A perceptron on vectors: products, biases and bytes of any batch")
{
    onnx::ModelProto model = network_of({784});
    add_weights(model, "w", {784, 10});
    add_weights(model, "b", {10});
    add_node(model, "MatMul", {"images", "w"}, "product");
    add_node(model, "Add", {"product", "b"}, "logits");
    const Operations all = operations(model);
    CHECK(all.parameters == 7840 + 10);
    CHECK(all.inputs == 784);
    const LayerWork work = work_of(of_kind(all, "MatMul"), 8, all.batch, Precision::fp32);
    CHECK(work.forward.flops == Flops{2.0 * 8 * 7840});
    CHECK(work.forward.compulsory == Bytes{4.0 * (8 * 784 + 7840 + 8 * 10)});
    CHECK(work.backward_data.flops == Flops{});  // the input needs no gradient
    CHECK(work.backward_weights.flops == work.forward.flops);
    CHECK(work.update.flops == Flops{6.0 * 7840});
    const LayerWork bias = work_of(of_kind(all, "Add"), 8, all.batch, Precision::bf16);
    CHECK(bias.forward.flops == Flops{80});
    CHECK(bias.forward.compulsory == Bytes{2.0 * (80 + 10 + 80)});
    CHECK(bias.backward_data.compulsory == Bytes{2.0 * (80 + 80) + 4.0 * 10});  // a sum needs none of its inputs
}

TEST_CASE("Attention of a decoder counts all pairs, and as executed those of its causal mask")
{
    onnx::ModelProto model = network_of({6, 48});
    add_weights(model, "k", {48, 16});
    add_node(model, "MatMul", {"images", "k"}, "keys");
    add_node(model, "Attention", {"images", "keys", "keys"}, "logits");
    for (const auto& [name, value] : {std::pair{"q_num_heads", 6}, {"kv_num_heads", 2}, {"is_causal", 1}})
        set_number(model, name, value);
    const Operations all = operations(model);
    const Operation& attention = of_kind(all, "Attention");
    CHECK(attention.output == Extents{1, 6, 48});
    CHECK(attention.flops == 2.0 * 6 * 36 * (8 + 8));
    CHECK(attention.executed * 36 == Approx(21));
    CHECK(attention.gradient_flops == 2.0 * 6 * 36 * (3 * 8 + 2 * 8));
    CHECK(work_of(attention, 2, all.batch, Precision::fp32).forward.flops == Flops{2 * attention.flops});
}

TEST_CASE("Shapes follow from each operator's rule")
{
    const auto shape = [](const std::string& operation, const std::vector<int>& extents, const auto& write) {
        onnx::ModelProto model = network_of(extents);
        add_node(model, operation, {"images"}, "made");
        write(model);
        add_node(model, "Neg", {"made"}, "logits");
        INFO(operation);
        return of_kind(operations(model), "Neg").output;
    };
    const auto reads = [](const std::vector<long long>& numbers) {
        return [numbers](onnx::ModelProto& model) {
            add_numbers(model, "numbers", numbers);
            model.mutable_graph()->mutable_node(0)->add_input("numbers");
        };
    };
    const auto has = [](const std::string& name, const std::vector<long long>& numbers) {
        return [=](onnx::ModelProto& model) { set_numbers(model, name, numbers); };
    };
    const auto is = [](const std::string& name, int number) {
        return [=](onnx::ModelProto& model) { set_number(model, name, number); };
    };
    CHECK(shape("Reshape", {6, 4}, reads({0, -1, 8})) == Extents{1, 3, 8});
    CHECK(shape("Transpose", {2, 3, 4}, has("perm", {0, 3, 1, 2})) == Extents{1, 4, 2, 3});
    CHECK(shape("Unsqueeze", {2, 3}, reads({-1, 1})) == Extents{1, 1, 2, 3, 1});
    CHECK(shape("Squeeze", {1, 3}, reads({1})) == Extents{1, 3});
    CHECK(shape("Flatten", {2, 3}, is("axis", -1)) == Extents{2, 3});
    CHECK(shape("Expand", {1, 3}, reads({5, 4, 1})) == Extents{5, 4, 3});
    CHECK(shape("Tile", {2, 3}, reads({1, 2, 3})) == Extents{1, 4, 9});
    CHECK(shape("Pad", {2, 3}, reads({0, 1, 2, 0, 1, 0})) == Extents{1, 4, 5});
    CHECK(shape("ReduceMean", {2, 3}, reads({-1})) == Extents{1, 2, 1});
    CHECK(shape("GlobalAveragePool", {2, 3, 4}, [](auto&) {}) == Extents{1, 2, 1, 1});
    CHECK(shape("DepthToSpace", {8, 3, 4}, is("blocksize", 2)) == Extents{1, 2, 6, 8});
    CHECK_THROWS_AS(shape("DepthToSpace", {}, is("blocksize", 2)), InputError);
    CHECK(shape("MaxPool", {2, 7, 6}, [](onnx::ModelProto& model) {
              set_numbers(model, "kernel_shape", {3, 1});
              set_numbers(model, "strides", {2, 2});
              set_number(model, "ceil_mode", 1);
          }) == Extents{1, 2, 3, 3});
    CHECK(shape("Slice", {9}, [](onnx::ModelProto& model) {
              for (const auto& [name, number] : {std::pair{"a", 8}, {"b", -20}, {"c", 1}, {"d", -2}}) {
                  add_numbers(model, name, {number});
                  model.mutable_graph()->mutable_node(0)->add_input(name);
              }
          }) == Extents{1, 5});
    CHECK(shape("Einsum", {2, 3}, [](onnx::ModelProto& model) {
              model.mutable_graph()->mutable_node(0)->add_input("images");
              auto& equation = *model.mutable_graph()->mutable_node(0)->add_attribute();
              equation.set_name("equation");
              equation.set_s("bij,bkj->bik");
          }) == Extents{1, 2, 2});
}

TEST_CASE("Pads are computed as PyTorch writes them: rows turned round, then columns one after the other")
{
    onnx::ModelProto model = network_of({3, 8, 8});
    add_numbers(model, "pads", {1, 2, 3, 4, 0, 0, 0, 0});  // left, right, top, bottom, …
    add_numbers(model, "pairs", {-1, 2});
    add_node(model, "Reshape", {"pads", "pairs"}, "rows");
    for (const auto& [name, number] :
         {std::pair{"last", -1}, {"before", -(1 << 30)}, {"axis", 0}, {"back", -1}, {"all", -1}})
        add_numbers(model, name, {number});
    add_node(model, "Slice", {"rows", "last", "before", "axis", "back"}, "turned");
    add_node(model, "Transpose", {"turned"}, "columns");
    add_node(model, "Reshape", {"columns", "all"}, "list");
    add_node(model, "Pad", {"images", "list"}, "logits");
    CHECK(of_kind(operations(model), "Pad").output == Extents{1, 3, 8 + 3 + 4, 8 + 1 + 2});
}

TEST_CASE("Windows that are not square, dilated or turned round have their products")
{
    onnx::ModelProto model = network_of({3, 17, 9});
    add_weights(model, "c", {8, 3, 1, 7});
    add_node(model, "Conv", {"images", "c"}, "map");
    set_numbers(model, "pads", {0, 3, 0, 3});
    add_weights(model, "t", {8, 4, 2, 2});
    add_node(model, "ConvTranspose", {"map", "t"}, "logits");
    set_numbers(model, "strides", {2, 2});
    const Operations all = operations(model);
    CHECK(of_kind(all, "Conv").flops == 2.0 * 8 * 17 * 9 * 3 * 7);
    CHECK(of_kind(all, "ConvTranspose").output == Extents{1, 4, 34, 18});
    CHECK(of_kind(all, "ConvTranspose").flops == 2.0 * 8 * 17 * 9 * 4 * 4);
    CHECK(all.parameters == 8 * 21 + 8 * 16);
}

TEST_CASE("Shared weights, and a table that a product reads too, count once")
{
    onnx::ModelProto model = small_network();
    auto& input = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    input.set_elem_type(onnx::TensorProto::INT64);
    input.mutable_shape()->mutable_dim()->DeleteSubrange(1, 3);
    input.mutable_shape()->add_dim()->set_dim_param("sequence");
    add_weights(model, "table", {50, 16});
    add_node(model, "Gather", {"table", "images"}, "embedded");
    add_node(model, "Transpose", {"table"}, "turned");
    add_node(model, "MatMul", {"embedded", "turned"}, "logits");
    CHECK_THAT(refusal(model),
               Catch::Contains("axis 1 of its input 'images' has no number; give it one: --size sequence=N"));
    const Operations all = operations(model, {{"sequence", 7}});
    CHECK(all.parameters == 50 * 16);
    CHECK(of_kind(all, "Gather").rows == 7 * 16);
    CHECK(of_kind(all, "MatMul").flops == 2.0 * 7 * 16 * 50);
    CHECK(of_kind(all, "MatMul").parameters == 0);
}

TEST_CASE("A recurrent layer's gradients go through time, and to its input where that needs one")
{
    const double of_input = 2.0 * 3 * 16 * 8, of_state = 2.0 * 3 * 16 * 4;
    for (const bool trains_before : {false, true}) {
        onnx::ModelProto model = network_of({3, 8});  // three sequences of one step, 8 values
        for (const auto& [name, dims] : std::vector<std::pair<std::string, Extents>>{
                 {"scale", {8}}, {"w", {1, 16, 8}}, {"r", {1, 16, 4}}, {"state", {1, 3, 4}}, {"gain", {4}}})
            add_weights(model, name, dims);
        add_node(model, "Mul", {"images", "scale"}, "scaled");
        add_node(model, "Mul", {"state", "gain"}, "begin");
        add_node(model, "LSTM", {trains_before ? "scaled" : "images", "w", "r", "", "", "begin", "begin"}, "logits");
        set_number(model, "hidden_size", 4);
        CHECK(of_kind(operations(model), "LSTM").gradient_flops == of_state + (trains_before ? of_input : 0));
    }
}

TEST_CASE("Gradients of inputs read no input where the operator is linear in it")
{
    onnx::ModelProto model = network_of({3, 8, 8});
    add_weights(model, "first", {5, 3, 1, 1});
    add_weights(model, "w", {5, 5, 3, 3});
    add_weights(model, "b", {5});
    add_node(model, "Conv", {"images", "first"}, "before");
    add_node(model, "Conv", {"before", "w", "b"}, "map");
    set_numbers(model, "pads", {1, 1, 1, 1});
    add_node(model, "Add", {"map", "before"}, "sum");
    add_node(model, "Tanh", {"sum"}, "bent");
    add_node(model, "MatMul", {"map", "bent"}, "scores");
    add_node(model, "GlobalAveragePool", {"scores"}, "logits");
    const Operations all = operations(model);
    const auto backward = [&](const Operation& one) {
        return work_of(one, 2, all.batch, Precision::fp32).backward_data.compulsory;
    };
    const double map = 2 * 5 * 8 * 8;
    CHECK(backward(all.all.at(1)) == Bytes{4 * (map + 5 * 5 * 9 + map)});  // docs/method.md, section 5
    CHECK(backward(of_kind(all, "Add")) == Bytes{4 * 3 * map});
    CHECK(backward(of_kind(all, "Tanh")) == Bytes{4 * 3 * map});
    CHECK(backward(of_kind(all, "GlobalAveragePool")) == Bytes{4 * (2 * 5 + map)});
    CHECK(backward(of_kind(all, "MatMul")) ==
          Bytes{4 * (map + 2 * map + 2 * map)});  // of two maps: each needs the other
}

TEST_CASE("The last states of a recurrent layer have a shape that the file need not give")
{
    onnx::ModelProto model = network_of({3, 8});
    add_weights(model, "w", {2, 12, 8});
    add_weights(model, "r", {2, 12, 4});
    add_node(model, "GRU", {"images", "w", "r"}, "");
    model.mutable_graph()->mutable_node(0)->add_output("last");
    set_number(model, "hidden_size", 4);
    add_node(model, "Neg", {"last"}, "logits");
    const Operations all = operations(model);
    CHECK(of_kind(all, "GRU").flops == 2.0 * 3 * 2 * (12 * 8 + 12 * 4));
    CHECK(of_kind(all, "Neg").output == Extents{2, 3, 4});
}

TEST_CASE("An operator without a rule counts by its bytes, and so does all that reads a result of unknown shape")
{
    onnx::ModelProto model = network_of({4, 4});
    add_node(model, "Inverse", {"images"}, "made");
    add_node(model, "Relu", {"made"}, "logits");
    const Operations blind = operations(model);
    CHECK_FALSE(of_kind(blind, "Inverse").has_rule);
    CHECK((of_kind(blind, "Inverse").read == 16 && of_kind(blind, "Inverse").written == 0));
    CHECK_FALSE(of_kind(blind, "Relu").has_rule);
    auto& told = *model.mutable_graph()->add_value_info();
    told.set_name("made");
    for (const int extent : {1, 4, 4})
        told.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(extent);
    const Operations all = operations(model);
    CHECK_FALSE(of_kind(all, "Inverse").has_rule);
    CHECK(of_kind(all, "Inverse").flops == 0);
    CHECK((of_kind(all, "Inverse").read == 16 && of_kind(all, "Inverse").written == 16));
    CHECK(of_kind(all, "Relu").has_rule);
}

TEST_CASE("More values than 2^62, and shapes that do not fit, are refused")
{
    onnx::ModelProto model = network_of({1 << 30, 1 << 30, 1 << 30});
    add_node(model, "Relu", {"images"}, "logits");
    CHECK_THAT(refusal(model), Catch::Contains("has more than 2^62 values"));
    onnx::ModelProto pooled = network_of({4, 4, 4});
    add_node(pooled, "MaxPool", {"images"}, "logits");
    set_numbers(pooled, "kernel_shape", {2, 2});
    set_numbers(pooled, "strides", {0, 1});
    CHECK_THAT(refusal(pooled), Catch::Contains("MaxPool at 'at logits' has strides of 0x1"));
    onnx::ModelProto joined = network_of({3, 4});
    add_weights(joined, "w", {5, 4});
    add_node(joined, "MatMul", {"images", "w"}, "logits");
    CHECK_THAT(refusal(joined), Catch::Contains("MatMul at 'at logits' multiplies 1x3x4 by 5x4"));
}
