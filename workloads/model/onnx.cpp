// One function per operator appends its layers. What a function refuses is collected, so that one message names all.
#include "workloads/model/models.hpp"

#include "ert/base/error.hpp"
#include "workloads/model/onnx_layers.hpp"
#include "workloads/model/onnx_values.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace roof::model {
namespace {

using namespace onnx_file;

class NetworkReader : public LayerReader {
  public:
    NetworkReader(const onnx::GraphProto& proto, const std::string& name) : LayerReader(proto, name), proto_(proto) {}

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
        static const std::map<std::string, Function> functions{{"Add", &NetworkReader::add_maps},
                                                               {"AveragePool", &NetworkReader::average_pool},
                                                               {"BatchNormalization", &NetworkReader::batch_norm},
                                                               {"Clip", &NetworkReader::clip},
                                                               {"Concat", &NetworkReader::concat},
                                                               {"Conv", &NetworkReader::convolution},
                                                               {"Div", &NetworkReader::multiply},
                                                               {"Dropout", &NetworkReader::dropout},
                                                               {"Gather", &NetworkReader::embedding},
                                                               {"Gelu", &NetworkReader::gelu},
                                                               {"Gemm", &NetworkReader::linear},
                                                               {"GlobalAveragePool", &NetworkReader::global_pool},
                                                               {"HardSigmoid", &NetworkReader::hard_sigmoid},
                                                               {"HardSwish", &NetworkReader::hard_swish},
                                                               {"LayerNormalization", &NetworkReader::layer_norm},
                                                               {"LogSoftmax", &NetworkReader::softmax},
                                                               {"MatMul", &NetworkReader::product},
                                                               {"MaxPool", &NetworkReader::max_pool},
                                                               {"Mul", &NetworkReader::multiply},
                                                               {"ReduceMean", &NetworkReader::reduce_mean},
                                                               {"Relu", &NetworkReader::relu},
                                                               {"Resize", &NetworkReader::resize},
                                                               {"Sigmoid", &NetworkReader::sigmoid},
                                                               {"Softmax", &NetworkReader::softmax},
                                                               {"Tanh", &NetworkReader::tanh}};
        try {
            const auto function = functions.find(node.operation());
            const bool is_known = function != functions.end() || Values::takes(node.operation());
            if (reads_unknown(node)) {  // it follows from an operator that is already named
                add_unknown(node);
                if (is_known) return;
            }
            if (const auto source = gelus_.take(node, values_)) {
                if (!*source) return;
                View made = **source;
                made.layer = graph_.activation(LayerKind::gelu, node.name(), values_.whole(made));
                values_.put(node.output(), made);
                return;
            }
            if (attentions_.take(node)) return;
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
        for (int index = 0; index < node.inputs(); ++index)
            if (node.has(index) && unknown_.contains(node.input(index))) return true;
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

    int convolution(const Node& node)
    {
        const Numbers& dims = weights(node, 4).dims;
        const int source = layer(node);
        const long long groups = extent_of(node.number("group", 1));
        if (dims[1] * groups != shape(source).channels) throw Refused{"of " + std::to_string(dims[1]) + " channels"};
        if (node.has(2)) require_trained(node, 2);
        return graph_.convolution(module_of(node), source, extent_of(dims[0]), window_of(node, {dims[2], dims[3]}),
                                  node.has(2), extent_of(groups));
    }

    int batch_norm(const Node& node)
    {
        for (const int index : {1, 2}) require_trained(node, index);
        return graph_.batch_norm(module_of(node), layer(node), node.real("epsilon", 1e-5F));
    }

    int linear(const Node& node)
    {
        const Tensor& weight = weights(node, 2);
        const bool transposed = node.number("transB", 0) == 1;
        node.require("transA", 0);
        if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1) throw Refused{"with alpha or beta"};
        if (node.has(2) && constant(node, 2) == nullptr) throw Refused{"with a bias that is not constant"};
        if (node.has(2)) require_trained(node, 2);
        return linear_of(node, weight.dims[transposed ? 0 : 1], weight.dims[transposed ? 1 : 0], node.has(2));
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
        for (int index = 0; index < 2; ++index)
            if (with_bias_.contains(node.input(index))) {
                require_trained(node, 1 - index);
                return put(node, values_.view(node, index));
            }
        for (int index = 0; index < 2; ++index)
            if (constant(node, index) != nullptr) return positions(node, 1 - index);
        View &left = values_.view(node, 0), &right = values_.view(node, 1);
        const int one = values_.whole(left), other = values_.whole(right);
        if (left.axes == right.axes)
            return put(node, {.layer = graph_.add(node.name(), one, other), .axes = left.axes});
        return graph_.add(node.name(), layer(node, 0), layer(node, 1));
    }

    int relu(const Node& node) { return activation(node, LayerKind::relu); }
    int sigmoid(const Node& node) { return gate(node, LayerKind::sigmoid, LayerKind::silu); }
    int tanh(const Node& node) { return activation(node, LayerKind::tanh); }
    int hard_swish(const Node& node) { return activation(node, LayerKind::hard_swish); }
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
        return activation(node, approximate == "none" ? LayerKind::gelu : LayerKind::gelu_tanh);
    }

    /// The activation `alone`; where its input is multiplied by it and nothing else reads it, Mul adds `product`.
    int gate(const Node& node, LayerKind alone, LayerKind product)
    {
        const onnx::NodeProto* const reader = values_.only_reader(node);
        const bool is_gate = reader != nullptr && Node::operation_of(*reader) == "Mul" && reader->input_size() == 2 &&
                             (reader->input(0) == node.input(0) || reader->input(1) == node.input(0));
        if (!is_gate) return activation(node, alone);
        gates_.emplace(node.output(), product);
        return -1;
    }

    int multiply(const Node& node)
    {
        for (int index = 0; index < 2; ++index) {
            const auto gated = gates_.find(node.input(index));
            if (gated != gates_.end()) return activation(node, gated->second, 1 - index);
        }
        for (int index = 0; index < 2; ++index) {
            const Tensor* const factor = constant(node, index);
            if (factor != nullptr) return multiply_by(node, 1 - index, *factor);
        }
        if (node.operation() == "Div") throw Refused{"of a layer's output"};
        const int left = layer(node, 0);
        const int right = layer(node, 1);
        const bool turned = shape(left) == Shape{shape(right).channels};
        return graph_.multiply(node.name(), turned ? right : left, turned ? left : right);
    }

    int clip(const Node& node)
    {
        const auto limit = [&](int index, const std::string& attribute, float none) {
            return node.has(index) ? number_in(node, index) : node.real(attribute, none);
        };
        constexpr float none = std::numeric_limits<float>::infinity();
        const float most = limit(2, "max", none);
        if (limit(1, "min", -none) != 0 || (most != 6 && most != none)) throw Refused{"to other than 0 to 6"};
        return activation(node, most == 6 ? LayerKind::relu6 : LayerKind::relu);
    }

    int concat(const Node& node)
    {
        if (constant(node, 0) != nullptr) return with_tokens(node);
        if (values_.join(node)) return -1;
        std::vector<int> inputs;
        for (int index = 0; index < node.inputs(); ++index) inputs.push_back(layer(node, index));
        node.require_axis(1, inputs.empty() ? 2 : values_.view(node).axes.size(), 0);
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
        if (window.dilation != 1) throw Refused{"with dilations"};
        if (window.padding != 0 && node.number("count_include_pad", 0) != 1)
            throw Refused{"with pads that are left out of the mean"};
        node.require("ceil_mode", 0);
        if (window.padding != 0 || (!keeps && !whole)) return graph_.average_pool(node.name(), source, window);
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

    int resize(const Node& node)
    {
        const int source = layer(node);
        const Shape& map = shape(source);
        const std::string mode = node.word("mode", "nearest");
        const std::string places = node.word("coordinate_transformation_mode", "half_pixel");
        if (mode != "linear") throw Refused{"with mode " + mode};
        if (places != "half_pixel" && places != "pytorch_half_pixel") throw Refused{"with places by " + places};
        const Tensor *const scales = constant(node, 2), *const sizes = constant(node, 3);
        Numbers to = sizes != nullptr ? sizes->values() : Numbers{};
        for (const double scale : scales != nullptr && scales->numbers && to.empty() ? *scales->numbers : Reals{})
            to.push_back(static_cast<long long>(scale * (to.size() < 2 ? 1 : to.size() == 2 ? map.height : map.width)));
        if (to.size() != map_axes) throw Refused{"to a size that is not constant"};
        return graph_.resize(node.name(), source, extent_of(to[2]), extent_of(to[3]));
    }

    int dropout(const Node& node)
    {
        const float ratio = node.has(1) ? number_in(node, 1) : node.real("ratio", 0.5F);
        return of_each(node, [&](int whole) { return graph_.dropout(node.name(), whole, ratio); });
    }

    int softmax(const Node& node)
    {
        if (node.output() != proto_.output(0).name()) throw Refused{"before the end of the network"};
        return put(node, values_.view(node));
    }

    /// -1 if the file's output is no layer's.
    int last_layer()
    {
        onnx::NodeProto end;
        end.add_input(proto_.output(0).name());
        try {
            View& last = values_.view(Node(end));
            const int whole = values_.whole(last);
            return graph_.vocabulary() > 0 && is_of_tokens(last) ? whole : layer(Node(end));
        } catch (const Refused&) {
            return -1;
        }
    }

    void check_output()
    {
        const int output = last_layer();
        const int last = static_cast<int>(graph_.layers().size()) - 1;
        if (output != last) throw InputError("the network does not end in one value per class");
        std::set<int> read{last};
        for (const Layer& layer : graph_.layers()) read.insert(layer.inputs.begin(), layer.inputs.end());
        for (int index = 0; index < last; ++index)
            if (!read.contains(index)) throw InputError("nothing reads the layer '" + graph_.layer(index).name + "'");
    }

    static constexpr std::size_t map_axes = 4;

    const onnx::GraphProto& proto_;
    Gelus gelus_;
    Attentions attentions_{values_, graph_};
    std::map<std::string, LayerKind> gates_;  ///< sigmoids that Mul joins with their input, and what it makes
    std::set<std::string> with_bias_;         ///< products whose Add is their bias
    std::set<std::string> unknown_;           ///< values of operators that are refused
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
