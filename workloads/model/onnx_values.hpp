// The values of an ONNX file while it is read: constants, and layers' outputs with their views.
#pragma once

#include "workloads/model/onnx_tensors.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::model::onnx_file {

/// A value that is a layer's output in another shape or with its channels in another order. Nothing is computed until a
/// layer reads it.
struct View {
    int layer = 0;
    Numbers dims;              ///< without the batch: {channels, height, width}, {features}, or any other
    std::vector<int> order{};  ///< for each channel, that of the layer's output; empty: as they are
    std::string name{};        ///< of the operator that made the view
};

/// The file's one input that is no tensor of weights. Throws InputError if there is another number of them.
const onnx::ValueInfoProto& input_of(const onnx::GraphProto& proto);
/// The shape of one image. Throws InputError if the file leaves it open.
Shape image_of(const onnx::GraphProto& proto);

class Values {
  public:
    /// Both must outlive it. The graph's layer 0 is the file's input.
    Values(const onnx::GraphProto& proto, Graph& graph);

    /// Takes an operator that computes nothing from a layer's output: constants, shapes and what is computed from them,
    /// and views. False for others. Throws Refused.
    bool take(const Node& node);
    /// True if take() handles the operator.
    static bool takes(const std::string& operation);

    /// Null if the input is left out or is no constant.
    const Tensor* constant(const Node& node, int index) const { return constants_.find(node, index); }
    /// The layer that gives this input; where it is a view, a shuffle or a flatten layer is added. Throws Refused.
    int layer(const Node& node, int index = 0);
    /// This value is the layer's output.
    void put(const std::string& value, int layer) { views_[value] = map_of(layer); }
    /// True for a list of values: behind a flatten or a linear layer.
    bool is_flat(int layer) const;
    bool is_read(const std::string& value) const { return readers_.contains(value); }
    /// The operator that alone reads the node's output; null if there is none or several.
    const onnx::NodeProto* only_reader(const Node& node) const;

  private:
    View map_of(int layer) const;
    View& view(const Node& node, int index = 0);
    bool reads_constants(const Node& node) const;
    Tensor shape_of(const Node& node);
    Tensor fold(const Node& node);
    View view_of(const Node& node);

    Graph& graph_;
    Tensors constants_;
    std::map<std::string, View> views_;
    std::map<std::string, std::vector<const onnx::NodeProto*>> readers_;  ///< by value; null: the file's output
    long long batch_;                                                     ///< the number of images
    std::size_t folded_ = 0;                                              ///< integers of all lists that fold() made
    mutable std::vector<bool> flat_;                                      ///< is_flat() of each layer
};

}  // namespace roof::model::onnx_file
