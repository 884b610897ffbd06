// One function per operator appends its layers. What a function refuses is collected, so that one message names all.
#include "workloads/model/onnx.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "workloads/model/onnx_node.hpp"

#include <limits>
#include <map>
#include <set>

namespace roof::model {
namespace {

using onnx_file::Constant;
using onnx_file::Node;
using onnx_file::Numbers;
using onnx_file::Refused;
using onnx_file::text;
using onnx_file::window_of;

class Reader {
  public:
    Reader(const onnx::GraphProto& proto, const std::string& name) : proto_(proto), graph_(name, input_shape(proto))
    {
        for (const onnx::TensorProto& tensor : proto.initializer()) constants_.emplace(tensor.name(), tensor);
        layers_.emplace(input(proto).name(), 0);
    }

    Graph read()
    {
        for (const onnx::NodeProto& proto : proto_.node()) add(Node(proto));
        if (!refused_.empty()) throw InputError("operators that roof does not train: " + refused_text());
        check_output();
        return std::move(graph_);
    }

  private:
    using Function = int (Reader::*)(const Node&);

    static const onnx::ValueInfoProto& input(const onnx::GraphProto& proto)
    {
        std::set<std::string> weights;
        for (const onnx::TensorProto& tensor : proto.initializer()) weights.insert(tensor.name());
        std::vector<const onnx::ValueInfoProto*> inputs;
        for (const onnx::ValueInfoProto& one : proto.input()) {
            if (!weights.contains(one.name())) inputs.push_back(&one);
        }
        if (inputs.size() != 1)
            throw InputError("the network has " + std::to_string(inputs.size()) + " inputs; one, the images, is read");
        return *inputs.front();
    }

    static Shape input_shape(const onnx::GraphProto& proto)
    {
        const auto& dims = input(proto).type().tensor_type().shape().dim();
        if (dims.size() != 4) throw InputError("the network's input is not [batch][channels][height][width]");
        Shape shape;
        for (int axis = 1; axis < 4; ++axis) {
            const long long extent = dims[axis].dim_value();  // 0 where it is a name
            if (extent < 1 || extent > 65536)
                throw InputError("the size of the network's images is not given: axis " + std::to_string(axis) +
                                 " of the input has no number");
            (axis == 1 ? shape.channels : axis == 2 ? shape.height : shape.width) = static_cast<int>(extent);
        }
        return shape;
    }

    void add(const Node& node)
    {
        static const std::map<std::string, Function> functions{
            {"Add", &Reader::add_maps},
            {"AveragePool", &Reader::average_pool},
            {"BatchNormalization", &Reader::batch_norm},
            {"Clip", &Reader::clip},
            {"Concat", &Reader::concat},
            {"Conv", &Reader::convolution},
            {"Dropout", &Reader::dropout},
            {"Flatten", &Reader::flatten},
            {"Gemm", &Reader::linear},
            {"GlobalAveragePool", &Reader::global_pool},
            {"LogSoftmax", &Reader::softmax},
            {"MaxPool", &Reader::max_pool},
            {"ReduceMean", &Reader::reduce_mean},
            {"Relu", &Reader::relu},
            {"Reshape", &Reader::reshape},
            {"Softmax", &Reader::softmax},
        };
        try {
            if (node.operation() == "Constant") return add_constant(node);
            if (node.operation() == "Identity") return rename(node);
            if (node.inputs() > 0 && unknown_.contains(node.input(0))) {
                unknown_.insert(node.output());  // it follows from an operator that is already named
                if (functions.contains(node.operation())) return;
            }
            const auto function = functions.find(node.operation());
            if (function == functions.end()) throw Refused{""};
            layers_[node.output()] = (this->*function->second)(node);
        } catch (const Refused& refused) {
            refuse(node, refused.reason);
        } catch (const std::logic_error& error) {
            refuse(node, std::string(": ") + error.what());
        }
    }

    void refuse(const Node& node, const std::string& reason)
    {
        unknown_.insert(node.output());
        refused_[node.operation() + (reason.empty() ? "" : " " + reason)].push_back("'" + node.name() + "'");
    }

    std::string refused_text() const
    {
        constexpr std::size_t most_named = 3;
        std::vector<std::string> all;
        for (auto [operation, places] : refused_) {
            const std::size_t others = places.size() > most_named ? places.size() - most_named : 0;
            places.resize(places.size() - others);
            all.push_back(operation + " at " + join(places, ", ") +
                          (others > 0 ? " and " + std::to_string(others) + " other places" : ""));
        }
        return join(all, "; ");
    }

    void add_constant(const Node& node)
    {
        const onnx::AttributeProto* const value = node.attribute("value");
        if (value == nullptr) throw Refused{"without a tensor"};
        constants_.emplace(node.output(), value->t());
    }

    void rename(const Node& node)
    {
        if (const Constant* const known = constant(node, 0); known != nullptr)
            constants_.emplace(node.output(), *known);
        else
            layers_[node.output()] = layer(node);
    }

    int layer(const Node& node, int index = 0) const
    {
        const auto found = layers_.find(node.input(index));
        if (found == layers_.end()) throw Refused{"of '" + node.input(index) + "', which is no layer's output"};
        return found->second;
    }
    const Shape& shape(int layer) const { return graph_.layer(layer).output; }
    const Constant* constant(const Node& node, int index) const
    {
        const auto found = node.has(index) ? constants_.find(node.input(index)) : constants_.end();
        return found == constants_.end() ? nullptr : &found->second;
    }
    const Constant& weights(const Node& node, std::size_t axes) const
    {
        const Constant* const found = constant(node, 1);
        if (found == nullptr || found->dims.size() != axes) throw Refused{"without constant weights"};
        return *found;
    }
    /// "layer1.0.conv1" of weights "layer1.0.conv1.weight", else the node's name.
    static std::string module_of(const Node& node)
    {
        const std::string ending = ".weight";
        const std::string weights = node.has(1) ? node.input(1) : "";
        return weights.ends_with(ending) ? weights.substr(0, weights.size() - ending.size()) : node.name();
    }

    int convolution(const Node& node)
    {
        const Numbers& dims = weights(node, 4).dims;
        const int source = layer(node);
        const long long groups = node.number("group", 1);
        if (dims[1] * groups != shape(source).channels) throw Refused{"of " + std::to_string(dims[1]) + " channels"};
        return graph_.convolution(module_of(node), source, static_cast<int>(dims[0]),
                                  window_of(node, {dims[2], dims[3]}), node.has(2), static_cast<int>(groups));
    }

    int batch_norm(const Node& node)
    {
        return graph_.batch_norm(module_of(node), layer(node), node.real("epsilon", 1e-5F));
    }

    int linear(const Node& node)
    {
        const Constant& weight = weights(node, 2);
        const bool transposed = node.number("transB", 0) == 1;
        node.require("transA", 0);
        if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1) throw Refused{"with alpha or beta"};
        if (constant(node, 2) == nullptr) throw Refused{"without a bias"};
        const int source = layer(node);
        const Numbers extents{weight.dims[transposed ? 0 : 1], weight.dims[transposed ? 1 : 0]};
        if (extents[1] != shape(source).elements()) throw Refused{"of " + std::to_string(extents[1]) + " inputs"};
        return graph_.linear(module_of(node), source, static_cast<int>(extents[0]));
    }

    int relu(const Node& node) { return graph_.relu(node.name(), layer(node)); }
    int add_maps(const Node& node) { return graph_.add(node.name(), layer(node, 0), layer(node, 1)); }

    int clip(const Node& node)
    {
        const auto limit = [&](int index, const std::string& attribute, float none) {
            const Constant* const given = constant(node, index);
            return given == nullptr ? node.real(attribute, none) : given->scalar.value_or(none);
        };
        constexpr float none = std::numeric_limits<float>::infinity();
        const float most = limit(2, "max", none);
        if (limit(1, "min", -none) != 0 || (most != 6 && most != none)) throw Refused{"to other than 0 to 6"};
        return most == 6 ? graph_.relu6(node.name(), layer(node)) : graph_.relu(node.name(), layer(node));
    }

    int concat(const Node& node)
    {
        node.require("axis", 1);
        std::vector<int> inputs;
        for (int index = 0; index < node.inputs(); ++index) inputs.push_back(layer(node, index));
        return graph_.concat(node.name(), inputs);
    }

    int max_pool(const Node& node)
    {
        return graph_.max_pool(node.name(), layer(node), window_of(node, node.numbers("kernel_shape", {})),
                               node.number("ceil_mode", 0) == 1);
    }

    int average_pool(const Node& node)
    {
        const int source = layer(node);
        const Window window = window_of(node, node.numbers("kernel_shape", {}));
        const Shape& map = shape(source);
        const bool keeps = window.size == 1 && window.stride == 1;
        const bool whole = window.size == map.height && window.size == map.width;
        if (window.padding != 0) throw Refused{"with pads"};
        node.require("ceil_mode", 0);
        if (!keeps && !whole) return graph_.average_pool(node.name(), source, window);
        return graph_.average_pool(node.name(), source, keeps ? map.height : 1);
    }

    int global_pool(const Node& node) { return graph_.average_pool(node.name(), layer(node), 1); }

    int reduce_mean(const Node& node)
    {
        const Constant* const given = constant(node, 1);
        const Numbers axes = given != nullptr ? given->values : node.numbers("axes", {});
        if (axes != Numbers{2, 3} && axes != Numbers{-2, -1} && axes != Numbers{-1, -2})
            throw Refused{"over axes " + text(axes)};
        const int pooled = global_pool(node);
        return node.number("keepdims", 1) == 1 ? pooled : graph_.flatten(node.name() + ".flatten", pooled);
    }

    int dropout(const Node& node)
    {
        const Constant* const ratio = constant(node, 1);
        const float usual = node.real("ratio", 0.5F);
        return graph_.dropout(node.name(), layer(node), ratio == nullptr ? usual : ratio->scalar.value_or(usual));
    }

    int flatten(const Node& node)
    {
        node.require("axis", 1);
        return graph_.flatten(node.name(), layer(node));
    }

    /// To [batch][features] alone.
    int reshape(const Node& node)
    {
        const Constant* const to = constant(node, 1);
        const int source = layer(node);
        if (to == nullptr || to->values.size() != 2) throw Refused{"to other than [batch][features]"};
        if (to->values[1] != -1 && to->values[1] != shape(source).elements()) throw Refused{"to " + text(to->values)};
        return graph_.flatten(node.name(), source);
    }

    int softmax(const Node& node)
    {
        if (node.output() != proto_.output(0).name()) throw Refused{"before the end of the network"};
        return layer(node);
    }

    void check_output() const
    {
        if (proto_.output_size() != 1)
            throw InputError("the network has " + std::to_string(proto_.output_size()) + " outputs; one is trained");
        const auto output = layers_.find(proto_.output(0).name());
        const int last = static_cast<int>(graph_.layers().size()) - 1;
        if (output == layers_.end() || output->second != last || shape(last).elements() != shape(last).channels)
            throw InputError("the network does not end in one value per class");
        std::set<int> read{last};
        for (const Layer& layer : graph_.layers()) read.insert(layer.inputs.begin(), layer.inputs.end());
        for (int index = 0; index < last; ++index) {
            if (!read.contains(index)) throw InputError("nothing reads the layer '" + graph_.layer(index).name + "'");
        }
    }

    const onnx::GraphProto& proto_;
    Graph graph_;
    std::map<std::string, Constant> constants_;
    std::map<std::string, int> layers_;                        ///< by the name of the value that they write
    std::set<std::string> unknown_;                            ///< values of operators that are refused
    std::map<std::string, std::vector<std::string>> refused_;  ///< places by operator
};

}  // namespace

Graph read_onnx(const std::filesystem::path& file)
{
    std::ifstream in = open_to_read(file);
    onnx::ModelProto model;
    if (!model.ParseFromIstream(&in) || !model.has_graph()) throw InputError("'" + file.string() + "' is no ONNX file");
    try {
        return Reader(model.graph(), file.stem().string()).read();
    } catch (const InputError& error) {
        throw InputError("'" + file.string() + "': " + error.what());
    }
}

}  // namespace roof::model
