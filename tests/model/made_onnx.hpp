// Small ONNX networks, made node by node.
#pragma once

#include "ert/base/error.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "workloads/model/graph.hpp"

#include <onnx/onnx_pb.h>

#include <fstream>
#include <string>
#include <vector>

namespace roof::tests {

/// A network of one input of 3x8x8 and one output.
inline onnx::ModelProto small_network()
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

inline void add_node(onnx::ModelProto& model, const std::string& operation, const std::vector<std::string>& inputs,
                     const std::string& output)
{
    onnx::NodeProto& node = *model.mutable_graph()->add_node();
    node.set_op_type(operation);
    node.set_name("at " + output);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
}

inline void add_weights(onnx::ModelProto& model, const std::string& name, const std::vector<long long>& dims)
{
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const long long extent : dims) tensor.add_dims(extent);
}

inline void add_numbers(onnx::ModelProto& model, const std::string& name, const std::vector<long long>& values)
{
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<int>(values.size()));
    for (const long long value : values) tensor.add_int64_data(value);
}

/// Sets an attribute of the node that was added last.
inline void set_numbers(onnx::ModelProto& model, const std::string& name, const std::vector<long long>& values)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    auto& attribute = *graph.mutable_node(graph.node_size() - 1)->add_attribute();
    attribute.set_name(name);
    for (const long long value : values) attribute.add_ints(value);
}

inline void set_number(onnx::ModelProto& model, const std::string& name, long long value)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    auto& attribute = *graph.mutable_node(graph.node_size() - 1)->add_attribute();
    attribute.set_name(name);
    attribute.set_i(value);
}

inline void set_word(onnx::ModelProto& model, const std::string& name, const std::string& value)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    auto& attribute = *graph.mutable_node(graph.node_size() - 1)->add_attribute();
    attribute.set_name(name);
    attribute.set_s(value);
}

inline model::Graph read(const onnx::ModelProto& model)
{
    const fakes::TemporaryFolder folder;
    std::ofstream out(folder / "made.onnx", std::ios::binary);
    model.SerializeToOstream(&out);
    out.close();
    return model::build_model((folder / "made.onnx").string());
}

/// The message of the refusal, or nothing.
inline std::string refusal_of(const onnx::ModelProto& model)
{
    try {
        read(model);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

/// Pools the value and ends in `classes` values by a product with weights.
inline void add_end(onnx::ModelProto& model, const std::string& value, int features)
{
    add_weights(model, "end", {features, 10});
    add_node(model, "GlobalAveragePool", {value}, "pooled");
    add_node(model, "Flatten", {"pooled"}, "features");
    add_node(model, "MatMul", {"features", "end"}, "logits");
}

inline std::vector<model::LayerKind> kinds_of(const model::Graph& graph)
{
    std::vector<model::LayerKind> kinds;
    for (const model::Layer& layer : graph.layers()) kinds.push_back(layer.kind);
    return kinds;
}

}  // namespace roof::tests
