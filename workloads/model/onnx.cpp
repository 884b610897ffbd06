// One function per operator appends its layers. What a function refuses is collected, so that one message names all.
#include "workloads/model/models.hpp"

#include "ert/base/error.hpp"
#include "workloads/model/onnx_gelu.hpp"
#include "workloads/model/onnx_tensors.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace roof::model {
namespace {

using namespace onnx_file;

class NetworkReader {
  public:
    NetworkReader(const onnx::GraphProto& proto, const std::string& name)
        : proto_(proto), graph_(name, image_of(proto)), values_(proto, graph_)
    {
    }

    Graph read()
    {
        if (proto_.output_size() != 1)
            throw InputError("the network has " + std::to_string(proto_.output_size()) + " outputs; one is trained");
        for (const onnx::NodeProto& proto : proto_.node()) add(Node(proto));
        if (!refused_.empty()) throw InputError("operators that roof does not train: " + places_text(refused_));
        check_output();
        return std::move(graph_);
    }

  private:
    using Function = int (NetworkReader::*)(const Node&);

    void add(const Node& node)
    {
        static const std::map<std::string, Function> functions{
            {"Add", &NetworkReader::add_maps},
            {"AveragePool", &NetworkReader::average_pool},
            {"BatchNormalization", &NetworkReader::batch_norm},
            {"Clip", &NetworkReader::clip},
            {"Concat", &NetworkReader::concat},
            {"Conv", &NetworkReader::convolution},
            {"Dropout", &NetworkReader::dropout},
            {"Gelu", &NetworkReader::gelu},
            {"Gemm", &NetworkReader::linear},
            {"GlobalAveragePool", &NetworkReader::global_pool},
            {"HardSigmoid", &NetworkReader::hard_sigmoid},
            {"HardSwish", &NetworkReader::hard_swish},
            {"LogSoftmax", &NetworkReader::softmax},
            {"MatMul", &NetworkReader::product},
            {"MaxPool", &NetworkReader::max_pool},
            {"Mul", &NetworkReader::multiply},
            {"ReduceMean", &NetworkReader::reduce_mean},
            {"Relu", &NetworkReader::relu},
            {"Sigmoid", &NetworkReader::sigmoid},
            {"Slice", &NetworkReader::slice},
            {"Softmax", &NetworkReader::softmax},
            {"Split", &NetworkReader::split},
        };
        try {
            const auto function = functions.find(node.operation());
            const bool is_known = function != functions.end() || Values::takes(node.operation());
            if (reads_unknown(node)) {  // it follows from an operator that is already named
                add_unknown(node);
                if (is_known) return;
            }
            if (const auto source = gelus_.take(node, values_)) {
                if (*source >= 0) values_.put(node.output(), graph_.activation(LayerKind::gelu, node.name(), *source));
                return;
            }
            if (!is_known) throw Refused{""};
            if (values_.take(node)) return;
            if (function == functions.end()) throw Refused{"of a layer's output"};
            const int layer = (this->*function->second)(node);
            if (layer >= 0) values_.put(node.output(), layer);
        } catch (const Refused& refused) {
            refuse(node, refused.reason);
        } catch (const std::logic_error& error) {
            refuse(node, std::string(": ") + error.what());
        }
    }

    bool reads_unknown(const Node& node) const
    {
        for (int index = 0; index < node.inputs(); ++index) {
            if (node.has(index) && unknown_.contains(node.input(index))) return true;
        }
        return false;
    }
    void add_unknown(const Node& node)
    {
        for (int index = 0; index < node.outputs(); ++index) unknown_.insert(node.output(index));
    }
    void refuse(const Node& node, const std::string& reason)
    {
        add_unknown(node);
        refused_[node.operation() + (reason.empty() ? "" : " " + reason)].push_back("'" + node.name() + "'");
    }

    int layer(const Node& node, int index = 0) { return values_.layer(node, index); }
    const Tensor* constant(const Node& node, int index) const { return values_.constant(node, index); }
    /// The value of a constant float. Throws Refused.
    float number_in(const Node& node, int index) const
    {
        const Tensor* const given = constant(node, index);
        if (given == nullptr || !given->scalar())
            throw Refused{"of '" + node.input(index) + "', which is no number in the file"};
        return *given->scalar();
    }
    const Shape& shape(int layer) const { return graph_.layer(layer).output; }
    const Tensor& weights(const Node& node, std::size_t axes)
    {
        const Tensor* const found = constant(node, 1);
        if (found == nullptr || found->dims.size() != axes) throw Refused{"without constant weights"};
        count_of(found->dims);  // throws for more than 2^62
        const auto [known, is_new] = users_.emplace(found->origin.empty() ? node.input(1) : found->origin, node.name());
        if (!is_new) throw Refused{"with the weights of '" + known->second + "', which would be trained apart"};
        return *found;
    }
    /// "layer1.0.conv1" of weights "layer1.0.conv1.weight", else the node's name.
    std::string module_of(const Node& node) const
    {
        const std::string ending = ".weight";
        const Tensor* const given = constant(node, 1);
        const std::string weights = given != nullptr ? given->origin : "";
        return weights.ends_with(ending) ? weights.substr(0, weights.size() - ending.size()) : node.name();
    }

    int convolution(const Node& node)
    {
        const Numbers& dims = weights(node, 4).dims;
        const int source = layer(node);
        const long long groups = extent_of(node.number("group", 1));
        if (dims[1] * groups != shape(source).channels) throw Refused{"of " + std::to_string(dims[1]) + " channels"};
        return graph_.convolution(module_of(node), source, extent_of(dims[0]), window_of(node, {dims[2], dims[3]}),
                                  node.has(2), extent_of(groups));
    }

    int batch_norm(const Node& node)
    {
        return graph_.batch_norm(module_of(node), layer(node), node.real("epsilon", 1e-5F));
    }

    int linear(const Node& node)
    {
        const Tensor& weight = weights(node, 2);
        const bool transposed = node.number("transB", 0) == 1;
        node.require("transA", 0);
        if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1) throw Refused{"with alpha or beta"};
        if (node.has(2) && constant(node, 2) == nullptr) throw Refused{"with a bias that is not constant"};
        return linear_of(node, weight.dims[transposed ? 0 : 1], weight.dims[transposed ? 1 : 0], node.has(2));
    }

    int linear_of(const Node& node, long long outputs, long long inputs, bool bias)
    {
        const int source = layer(node);
        if (inputs != shape(source).elements() || !values_.is_flat(source))
            throw Refused{"of " + std::to_string(inputs) + " inputs"};
        return graph_.linear(module_of(node), source, extent_of(outputs), bias);
    }

    /// A product with constant weights, and the Add of a constant behind it, which is its bias.
    int product(const Node& node)
    {
        const Tensor& weight = weights(node, 2);
        const onnx::NodeProto* const reader = values_.only_reader(node);
        bool has_bias = false;
        for (int index = 0; reader != nullptr && Node::operation_of(*reader) == "Add" && index < reader->input_size();
             ++index) {
            const Tensor* const added = constant(Node(*reader), index);
            has_bias = has_bias || (added != nullptr && added->dims == Numbers{weight.dims[1]});
        }
        if (has_bias) with_bias_.insert(node.output());
        return linear_of(node, weight.dims[1], weight.dims[0], has_bias);
    }

    int add_maps(const Node& node)
    {
        for (int index = 0; index < 2; ++index) {
            if (with_bias_.contains(node.input(index))) return layer(node, index);
        }
        return graph_.add(node.name(), layer(node, 0), layer(node, 1));
    }

    int relu(const Node& node) { return graph_.relu(node.name(), layer(node)); }
    int sigmoid(const Node& node) { return gate(node, LayerKind::sigmoid, LayerKind::silu); }
    int hard_swish(const Node& node) { return graph_.activation(LayerKind::hard_swish, node.name(), layer(node)); }
    int hard_sigmoid(const Node& node)
    {
        const bool usual = std::abs(node.real("alpha", 0.2F) - 1.0F / 6) < 1e-6F && node.real("beta", 0.5F) == 0.5F;
        if (!usual) throw Refused{"with other than x / 6 + 1 / 2"};
        return gate(node, LayerKind::hard_sigmoid, LayerKind::hard_swish);
    }

    int gelu(const Node& node)
    {
        const std::string approximate = node.word("approximate", "none");
        if (approximate != "none" && approximate != "tanh") throw Refused{"with approximate " + approximate};
        return graph_.activation(approximate == "none" ? LayerKind::gelu : LayerKind::gelu_tanh, node.name(),
                                 layer(node));
    }

    /// The activation `alone`; where its input is multiplied by it and nothing else reads it, Mul adds `product`.
    int gate(const Node& node, LayerKind alone, LayerKind product)
    {
        const onnx::NodeProto* const reader = values_.only_reader(node);
        const bool is_gate = reader != nullptr && Node::operation_of(*reader) == "Mul" && reader->input_size() == 2 &&
                             (reader->input(0) == node.input(0) || reader->input(1) == node.input(0));
        if (!is_gate) return graph_.activation(alone, node.name(), layer(node));
        gates_.emplace(node.output(), product);
        return -1;
    }

    int multiply(const Node& node)
    {
        for (int index = 0; index < 2; ++index) {
            const auto gated = gates_.find(node.input(index));
            if (gated != gates_.end()) return graph_.activation(gated->second, node.name(), layer(node, 1 - index));
        }
        const int left = layer(node, 0);
        const int right = layer(node, 1);
        const bool turned = shape(left) == Shape{shape(right).channels};
        return graph_.multiply(node.name(), turned ? right : left, turned ? left : right);
    }

    int slice(const Node& node)
    {
        const int source = layer(node);
        const long long channels = shape(source).channels;
        const auto only = [&](int index, const std::string& attribute, const Numbers& usual) {
            const Tensor* const given = constant(node, index);
            const Numbers values = given != nullptr ? given->values() : node.numbers(attribute, usual);
            if (values.size() != 1) throw Refused{"of more than one axis"};
            return values.front();
        };
        const long long axis = only(3, "axes", {0});
        if ((axis != 1 && axis + map_axes != 1) || only(4, "steps", {1}) != 1 || values_.is_flat(source))
            throw Refused{"of other than channels"};
        const long long first = bound_of(only(1, "starts", {}), channels);
        return graph_.slice(node.name(), source, static_cast<int>(first),
                            static_cast<int>(bound_of(only(2, "ends", {}), channels) - first));
    }

    int split(const Node& node)
    {
        node.require_axis(1, map_axes, 0);
        const int source = layer(node);
        if (values_.is_flat(source)) throw Refused{"of other than channels"};
        const Tensor* const given = constant(node, 1);
        Numbers sizes = given != nullptr ? given->values() : node.numbers("split", {});
        const long long parts = node.outputs();
        const long long each = (shape(source).channels + parts - 1) / parts;
        if (sizes.empty()) {
            sizes.assign(static_cast<std::size_t>(parts), each);
            sizes.back() = shape(source).channels - each * (parts - 1);
        }
        if (static_cast<long long>(sizes.size()) != parts) throw Refused{"into " + text(sizes)};
        long long first = 0;
        for (int part = 0; part < node.outputs(); ++part) {
            const long long size = sizes[static_cast<std::size_t>(part)];
            if (size < 1 || size > shape(source).channels) throw Refused{"into " + text(sizes)};
            const std::string name = node.name() + "." + std::to_string(part);
            if (values_.is_read(node.output(part)))
                values_.put(node.output(part),
                            graph_.slice(name, source, static_cast<int>(first), static_cast<int>(size)));
            first += size;
        }
        return -1;
    }

    int clip(const Node& node)
    {
        const auto limit = [&](int index, const std::string& attribute, float none) {
            return node.has(index) ? number_in(node, index) : node.real(attribute, none);
        };
        constexpr float none = std::numeric_limits<float>::infinity();
        const float most = limit(2, "max", none);
        if (limit(1, "min", -none) != 0 || (most != 6 && most != none)) throw Refused{"to other than 0 to 6"};
        return graph_.activation(most == 6 ? LayerKind::relu6 : LayerKind::relu, node.name(), layer(node));
    }

    int concat(const Node& node)
    {
        std::vector<int> inputs;
        for (int index = 0; index < node.inputs(); ++index) inputs.push_back(layer(node, index));
        node.require_axis(1, !inputs.empty() && values_.is_flat(inputs.front()) ? 2 : map_axes, 0);
        return graph_.concat(node.name(), inputs);
    }

    int max_pool(const Node& node)
    {
        const Window window = window_of(node, node.numbers("kernel_shape", {}));
        if (window.dilation != 1) throw Refused{"with dilations"};
        return graph_.max_pool(node.name(), layer(node), window, node.number("ceil_mode", 0) == 1);
    }

    int average_pool(const Node& node)
    {
        const int source = layer(node);
        const Window window = window_of(node, node.numbers("kernel_shape", {}));
        const Shape& map = shape(source);
        const bool keeps = window.size == 1 && window.stride == 1;
        const bool whole = window.size == map.height && window.size == map.width;
        if (window.padding != 0 || window.dilation != 1) throw Refused{"with pads or dilations"};
        node.require("ceil_mode", 0);
        if (!keeps && !whole) return graph_.average_pool(node.name(), source, window);
        return graph_.average_pool(node.name(), source, keeps ? map.height : 1);
    }

    int global_pool(const Node& node) { return graph_.average_pool(node.name(), layer(node), 1); }

    int reduce_mean(const Node& node)
    {
        const Tensor* const given = constant(node, 1);
        const Numbers axes = given != nullptr ? given->values() : node.numbers("axes", {});
        if (axes != Numbers{2, 3} && axes != Numbers{-2, -1} && axes != Numbers{-1, -2})
            throw Refused{"over axes " + text(axes)};
        const int pooled = global_pool(node);
        return node.number("keepdims", 1) == 1 ? pooled : graph_.flatten(node.name() + ".flatten", pooled);
    }

    int dropout(const Node& node)
    {
        return graph_.dropout(node.name(), layer(node), node.has(1) ? number_in(node, 1) : node.real("ratio", 0.5F));
    }

    int softmax(const Node& node)
    {
        if (node.output() != proto_.output(0).name()) throw Refused{"before the end of the network"};
        return layer(node);
    }

    /// -1 if the file's output is no layer's.
    int last_layer()
    {
        onnx::NodeProto end;
        end.add_input(proto_.output(0).name());
        try {
            return layer(Node(end));
        } catch (const Refused&) {
            return -1;
        }
    }

    void check_output()
    {
        const int output = last_layer();
        const int last = static_cast<int>(graph_.layers().size()) - 1;
        if (output != last || shape(last).elements() != shape(last).channels)
            throw InputError("the network does not end in one value per class");
        std::set<int> read{last};
        for (const Layer& layer : graph_.layers()) read.insert(layer.inputs.begin(), layer.inputs.end());
        for (int index = 0; index < last; ++index) {
            if (!read.contains(index)) throw InputError("nothing reads the layer '" + graph_.layer(index).name + "'");
        }
    }

    static constexpr std::size_t map_axes = 4;

    const onnx::GraphProto& proto_;
    Graph graph_;
    Values values_;
    Gelus gelus_;
    std::map<std::string, LayerKind> gates_;    ///< sigmoids that Mul joins with their input, and what it makes
    std::map<std::string, std::string> users_;  ///< places by the weights that they multiply with
    std::set<std::string> with_bias_;           ///< products whose Add is their bias
    std::set<std::string> unknown_;             ///< values of operators that are refused
    std::map<std::string, std::vector<std::string>> refused_;  ///< places by operator
};

}  // namespace

Graph read_onnx(const std::filesystem::path& file)
{
    const onnx::GraphProto graph = onnx_file::graph_in(file);
    try {
        return NetworkReader(graph, file.stem().string()).read();
    } catch (const InputError& error) {
        throw InputError("'" + file.string() + "': " + error.what());
    }
}

}  // namespace roof::model
