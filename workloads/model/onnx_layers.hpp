// Adds the layers of an ONNX file's operators to a network: helpers for all of them, and the operators on tokens.
#pragma once

#include "workloads/model/onnx_values.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace roof::model::onnx_file {

/// A function of an operator returns the layer that it adds, or -1 where it has put the output itself. Throws Refused.
class LayerReader {
  protected:
    static constexpr std::string_view apart = "which would be trained apart";
    LayerReader(const onnx::GraphProto& proto, const std::string& name)
        : graph_(name, image_of(proto)), values_(proto, graph_)
    {
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
    /// Throws Refused unless this operator trains the constant, alone.
    void require_trained(const Node& node, int index)
    {
        const Tensor* const found = constant(node, index);
        if (found == nullptr) throw Refused{"with trained numbers that are not constant"};
        if (!values_.trains(*found)) throw Refused{"with numbers that do not train, of an operator Constant"};
        const std::string& place = place_of(*found, node, index);
        const auto [known, is_new] = users_.emplace(place, node.name());
        // Exporters join tensors of the same numbers, such as the gains of two norms before their training: the one
        // that traces by Identity, behind which the other name is, the other by the name alone.
        const bool is_renamed = !node.name().starts_with('/') || node.input(index) != place;
        const bool are_joined = is_renamed && found->is_even;
        if (!is_new && !are_joined) throw Refused{"with the weights of '" + known->second + "', " + std::string(apart)};
    }
    /// The tensor of the file, whatever the operators between call it.
    static const std::string& place_of(const Tensor& tensor, const Node& node, int index)
    {
        return tensor.origin.empty() ? node.input(index) : tensor.origin;
    }
    const Shape& shape(int layer) const { return graph_.layer(layer).output; }
    const Tensor& weights(const Node& node, std::size_t axes)
    {
        const Tensor* const found = constant(node, 1);
        if (found == nullptr || found->dims.size() != axes || !found->table.empty())
            throw Refused{"without constant weights"};
        if (!values_.trains(*found)) throw Refused{"with numbers that do not train, of an operator Constant"};
        count_of(found->dims);  // throws for more than 2^62
        const auto [known, is_new] = users_.emplace(place_of(*found, node, 1), node.name());
        if (!is_new && embedding_of(*found) < 0)
            throw Refused{"with the weights of '" + known->second + "', " + std::string(apart)};
        return *found;
    }
    /// The embedding that these are the weights of; -1: none.
    int embedding_of(const Tensor& weights) const { return weights.origin == vectors_ ? embedding_ : -1; }
    /// "layer1.0.conv1" of weights "layer1.0.conv1.weight", else (also of constants that were merged) the node's name.
    std::string module_of(const Node& node, int index = 1)
    {
        const std::string ending = ".weight";
        const Tensor* const given = constant(node, index);
        std::string weights = given != nullptr ? given->origin : "";
        if (weights.ends_with(ending)) weights.resize(weights.size() - ending.size());
        const bool is_new = !weights.empty() && weights != given->origin && modules_.insert(weights).second;
        return is_new ? weights : node.name();
    }
    /// The layer that `make` adds of the whole input, with its axes; a map in one axis is flattened first. Returns -1.
    template <class Make>
    int of_each(const Node& node, const Make& make, int index = 0)
    {
        View& of = values_.view(node, index);
        int whole = values_.whole(of);
        if (of.axes.size() == 2 && of.axes[1] != all_channels(whole)) whole = layer(node, index);
        return put(node, {.layer = make(whole), .axes = of.axes});
    }
    int put(const Node& node, const View& view)
    {
        values_.put(node.output(), View{.layer = view.layer, .axes = view.axes, .name = node.name()});
        return -1;
    }
    Parts all_channels(int layer) const { return joined({{Part::Of::channels, shape(layer).channels, 1}}); }
    long long places(int layer) const { return 1LL * shape(layer).height * shape(layer).width; }
    /// Whether it is [images][positions][channels] of a layer.
    bool is_of_tokens(const View& of) const
    {
        return of.axes.size() == 3 && of.axes[1] == joined({{Part::Of::positions, places(of.layer), 1}}) &&
               of.axes[2] == all_channels(of.layer);
    }

    int linear_of(const Node& node, long long outputs, long long inputs, bool bias)
    {
        View& of = values_.view(node);
        const int whole = values_.whole(of);
        const bool is_of_channels = !of.axes.empty() && of.axes.back() == all_channels(whole);
        if (is_of_channels && inputs == shape(whole).channels && (of.axes.size() > 2 || places(whole) > 1)) {
            View made{.axes = of.axes};
            made.layer = places(whole) > 1 ? graph_.linear_of_positions(module_of(node), whole, extent_of(outputs),
                                                                        bias, embedding_of(*constant(node, 1)))
                                           : graph_.linear(module_of(node), whole, extent_of(outputs), bias);
            made.axes.back() = all_channels(made.layer);
            return put(node, made);
        }
        const int source = layer(node);
        if (inputs != shape(source).elements() || !values_.is_flat(source))
            throw Refused{"of " + std::to_string(inputs) + " inputs"};
        return graph_.linear(module_of(node), source, extent_of(outputs), bias);
    }

    int layer_norm(const Node& node)
    {
        View& of = values_.view(node);
        const int source = values_.whole(of);
        const Tensor* const scale = constant(node, 1);
        node.require_axis(std::ssize(of.axes) - 1, of.axes.size(), -1);
        if (of.axes.empty() || of.axes.back() != all_channels(source) || scale == nullptr ||
            scale->dims != Numbers{shape(source).channels} || !node.has(2))
            throw Refused{"over other than the channels, with a scale and a shift of each"};
        for (const int index : {1, 2}) require_trained(node, index);
        const std::string name = module_of(node);
        return of_each(node, [&](int whole) { return graph_.layer_norm(name, whole, node.real("epsilon", 1e-5F)); });
    }

    /// The trained vectors of the network's tokens.
    int embedding(const Node& node)
    {
        const Tensor* const table = constant(node, 0);
        if (table == nullptr || table->dims.size() != 2 || !table->is_float || node.number("axis", 0) != 0)
            throw Refused{"of other than trained vectors"};
        View made = values_.view(node, 1);
        vectors_ = table->origin;
        users_.emplace(vectors_, node.name());
        made.layer = graph_.embedding(module_of(node, 0), values_.whole(made), extent_of(table->dims[0]),
                                      extent_of(table->dims[1]));
        embedding_ = made.layer;
        made.axes.push_back(all_channels(made.layer));
        return put(node, made);
    }

    /// Trained values of each position, the same for all images, or for all positions, too.
    int positions(const Node& node, int index)
    {
        const Tensor& added = *constant(node, 1 - index);
        View& of = values_.view(node, index);
        const int source = values_.whole(of);
        const long long values = count_of(added.dims);
        const bool is_same = values == shape(source).channels;
        if (!is_of_tokens(of) || !added.is_float || added.dims.empty() || !added.table.empty() ||
            added.dims.back() != shape(source).channels || (!is_same && values != shape(source).elements()))
            throw Refused{"of a constant that is neither a bias nor of each position"};
        require_trained(node, 1 - index);
        const std::string name = module_of(node, 1 - index);
        return of_each(
            node, [&](int whole) { return is_same ? graph_.shift(name, whole) : graph_.positions(name, whole); },
            index);
    }

    /// Trained tokens before all others: Concat's inputs before the last are their values, the same for all images.
    int with_tokens(const Node& node)
    {
        const int last = node.inputs() - 1;
        View of = values_.view(node, last);
        const int source = values_.whole(of);
        node.require_axis(1, 3, 0);
        long long all = 0;
        for (int index = 0; index < last; ++index) {
            const Tensor* const token = constant(node, index);
            if (token == nullptr || !is_of_tokens(of) || token->dims.size() != 3 ||
                token->dims[2] != shape(source).channels || !token->table.empty())
                throw Refused{"of a constant that is no token"};
            require_trained(node, index);
            all += extent_of(token->dims[1]);
        }
        const int count = extent_of(all);
        const std::string name = node.name() + ".tokens";
        of.layer = graph_.take_positions(name, source, -count, extent_of(places(source) + count));
        of.layer = graph_.positions(node.name(), of.layer, count);
        of.axes[1] = joined({{Part::Of::positions, places(of.layer), 1}});
        return put(node, of);
    }

    int activation(const Node& node, LayerKind kind, int index = 0)
    {
        return of_each(
            node, [&](int whole) { return graph_.activation(kind, node.name(), whole); }, index);
    }

    /// A single number is left to attention, which divides by a root; one for each channel is trained, as a convolution
    /// of 1 x 1 in which each channel reads itself.
    int multiply_by(const Node& node, int index, const Tensor& factor)
    {
        const bool divides = node.operation() == "Div";
        if (divides && index != 0) throw Refused{"of a constant"};
        if (const auto number = factor.scalar()) {
            View made = values_.view(node, index);
            made.factor *= divides ? 1 / *number : *number;
            values_.put(node.output(), made);
            return -1;
        }
        View& of = values_.view(node, index);
        const int source = values_.whole(of);
        const long long before = std::ssize(of.axes) - std::ssize(factor.dims);
        const bool is_each =
            !divides && factor.is_float && before >= 0 && count_of(factor.dims) == shape(source).channels && [&] {
                const auto axis = std::ranges::find(factor.dims, shape(source).channels);
                return axis != factor.dims.end() &&
                       of.axes[static_cast<std::size_t>(before + (axis - factor.dims.begin()))] == all_channels(source);
            }();
        if (!is_each) throw Refused{"of a constant that is no number of each channel"};
        require_trained(node, 1 - index);
        const int channels = shape(source).channels;
        const std::string name = module_of(node, 1 - index);
        return of_each(
            node, [&](int whole) { return graph_.convolution(name, whole, channels, {}, false, channels); }, index);
    }

    Graph graph_;
    Values values_;

  private:
    std::map<std::string, std::string> users_;  ///< places by the weights that they multiply with
    std::set<std::string> modules_;             ///< names of layers after their weights
    std::string vectors_;                       ///< the weights of the embedding
    int embedding_ = -1;                        ///< its layer; -1: there is none yet
};

}  // namespace roof::model::onnx_file
