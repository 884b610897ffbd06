// The values of an ONNX file while it is read: constants, and layers' outputs with their views.
#pragma once

#include "workloads/model/onnx_node.hpp"
#include "workloads/model/onnx_view.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace roof::model::onnx_file {

/// The file's one input that is no tensor of weights. Throws InputError if there is another number of them.
const onnx::ValueInfoProto& input_of(const onnx::GraphProto& proto);
/// The shape of one image, or of a sequence's tokens: one channel in a row. Throws InputError where it is left open.
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
    bool trains(const Tensor& constant) const { return constants_.trains(constant); }
    /// The layer that gives this input as a map or a list; adds the layers that make it of a view. Throws Refused.
    int layer(const Node& node, int index = 0);
    /// The layer that gives what the view has, in any order of its axes. Throws Refused.
    int whole(View& view);
    /// Joins parts of one layer's positions along an axis: a view of them in another order, or along the channels a
    /// layer of fewer positions. False for inputs that are no such parts. Throws Refused.
    bool join(const Node& node);
    /// A layer's output that is read. Throws Refused.
    View& view(const Node& node, int index = 0);
    bool is_view(const Node& node, int index) const { return node.has(index) && views_.contains(node.input(index)); }
    /// This value is the layer's output.
    void put(const std::string& value, int layer);
    void put(const std::string& value, View view) { views_[value] = std::move(view); }
    /// True for a list of values: behind a flatten or a linear layer.
    bool is_flat(int layer) const;
    /// The operator that alone reads the node's output; null if there is none or several.
    const onnx::NodeProto* only_reader(const Node& node) const;

  private:
    bool reads_constants(const Node& node) const;
    Tensor shape_of(const Node& node);
    Tensor fold(const Node& node);
    View view_of(const Node& node);
    bool split(const Node& node);
    View& to_cut(const Node& node);

    Graph& graph_;
    Tensors constants_;
    std::map<std::string, View> views_;
    std::map<std::string, std::vector<const onnx::NodeProto*>> readers_;  ///< by value; null: the file's output
    long long batch_;                                                     ///< the number of images
    std::size_t folded_ = 0;                                              ///< integers of all lists that fold() made
    mutable std::vector<bool> flat_;                                      ///< is_flat() of each layer
};

}  // namespace roof::model::onnx_file
