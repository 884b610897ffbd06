#include "workloads/model/onnx_values.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace roof::model::onnx_file {
namespace {

bool makes_view(const std::string& operation)
{
    static const std::set<std::string> all{"Flatten", "Gather", "Identity", "Pad",       "Reshape",
                                           "Slice",   "Split",  "Squeeze",  "Transpose", "Unsqueeze"};
    return all.contains(operation);
}

}  // namespace

const onnx::ValueInfoProto& input_of(const onnx::GraphProto& proto)
{
    std::set<std::string> weights;
    for (const onnx::TensorProto& tensor : proto.initializer()) weights.insert(tensor.name());
    std::vector<const onnx::ValueInfoProto*> inputs;
    for (const onnx::ValueInfoProto& one : proto.input())
        if (!weights.contains(one.name())) inputs.push_back(&one);
    if (inputs.size() != 1)
        throw InputError("the network has " + std::to_string(inputs.size()) + " inputs; one, the images, is read");
    return *inputs.front();
}

Shape image_of(const onnx::GraphProto& proto)
{
    const auto& type = input_of(proto).type().tensor_type();
    const auto& dims = type.shape().dim();
    const bool is_of_tokens = dims.size() == 2 && !is_float(type.elem_type()) && type.elem_type() != 0;
    if (dims.size() != 4 && !is_of_tokens)
        throw InputError("the network's input is neither [batch][channels][height][width] nor [batch][tokens]");
    Shape shape{1};
    for (int axis = 1; axis < dims.size(); ++axis) {
        const long long extent = dims[axis].dim_value();  // 0 where it is a name
        if (extent < 1 || extent > 65536)
            throw InputError("the size of the network's images is not given: axis " + std::to_string(axis) +
                             " of the input has no number");
        (is_of_tokens || axis == 3 ? shape.width
         : axis == 1               ? shape.channels
                                   : shape.height) = static_cast<int>(extent);
    }
    return shape;
}

Values::Values(const onnx::GraphProto& proto, Graph& graph) : graph_(graph), constants_(proto)
{
    const onnx::ValueInfoProto& input = input_of(proto);
    const long long images = input.type().tensor_type().shape().dim(0).dim_value();
    batch_ = images > 0 ? images : open_batch;
    put(input.name(), 0);
    if (input.type().tensor_type().shape().dim().size() == 2)
        views_[input.name()] = squeezed(views_[input.name()], {1, 2});  // tokens
    for (const onnx::NodeProto& node : proto.node())
        for (const std::string& value : node.input()) readers_[value].push_back(&node);
    for (const onnx::ValueInfoProto& output : proto.output()) readers_[output.name()].push_back(nullptr);
}

bool Values::takes(const std::string& operation)
{
    return operation == "Constant" || operation == "Shape" || makes_view(operation) || is_folded(operation);
}

bool Values::take(const Node& node)
{
    const std::string& operation = node.operation();
    if (operation == "Constant") {
        if (!constants_.put_constant(node)) throw Refused{"without a tensor"};
    } else if (operation == "Shape") {
        constants_.put(node.output(), shape_of(node));
    } else if (is_folded(operation) && reads_constants(node)) {
        constants_.put(node.output(), fold(node));
    } else if (makes_view(operation) && views_.contains(node.input(0))) {
        if (operation == "Split") return split(node);
        View made = view_of(node);
        made.name = node.name();
        views_[node.output()] = std::move(made);
    } else {
        return false;
    }
    return true;
}

int Values::layer(const Node& node, int index)
{
    View& of = view(node, index);
    const int layer = whole(of);
    const Shape& map = graph_.layer(layer).output;
    const View plain = View::of(layer, map, batch_);
    if (of.axes == plain.axes) return layer;
    if (of.axes.size() != 2 || of.axes[0] != plain.axes[0] || of.parts() != plain.parts()) {
        const Numbers dims = of.dims();
        throw Refused{"of values in the shape " + text(dims.empty() ? dims : Numbers(dims.begin() + 1, dims.end()))};
    }
    if (map.height * map.width > 1 || !is_flat(layer)) {
        const int flat = graph_.flatten(of.name, layer);
        of = View::of(flat, graph_.layer(flat).output, batch_, 2);
    }
    return of.layer;
}

int Values::whole(View& of)
{
    using enum Part::Of;
    if (of.factor != 1) throw Refused{"of values that a constant multiplies"};
    const auto has_all = [&](Part::Of kind) {
        const Shape& map = graph_.layer(of.layer).output;
        return of.count(kind) == (kind == channels ? map.channels : 1LL * map.height * map.width);
    };
    const Parts places = parts_of(of, positions);
    if (!of.order.empty() || (!are_together(places) && has_all(positions))) {
        of.layer = graph_.rearrange(of.name, of.layer, graph_.layer(of.layer).output, positions_of(of));
        renumber(of, positions);
    }
    if (!has_all(positions)) {
        if (!are_together(parts_of(of, positions))) throw Refused{"of positions that are no neighbours"};
        of.layer = graph_.take_positions(of.name, of.layer, extent_of(of.position, 0), extent_of(of.count(positions)));
        of.position = 0;
    }
    Parts own = parts_of(of, channels);
    if (!has_all(channels)) {
        std::ranges::sort(own, std::greater{}, &Part::stride);
        if (!are_together(joined(own))) throw Refused{"of channels that are no neighbours"};
        of.layer = graph_.slice(of.name, of.layer, extent_of(of.channel, 0), extent_of(of.count(channels)));
        of.channel = 0;
        own = parts_of(of, channels);
    }
    if (are_together(own)) return of.layer;
    of.layer = graph_.shuffle(of.name, of.layer, order_of(own));
    renumber(of, channels);
    return of.layer;
}

bool Values::join(const Node& node)
{
    using enum Part::Of;
    View made = view(node);
    std::vector<View> parts;
    for (int index = 0; index < node.inputs(); ++index) {
        parts.push_back(view(node, index));
        if (parts.back().layer != made.layer) return false;
    }
    const Shape map = graph_.layer(made.layer).output;
    if (made.count(positions) == 1LL * map.height * map.width) return false;
    const std::size_t axis = axis_of(node.number("axis"), made.axes.size());
    const Parts all_channels = joined({{channels, map.channels}});
    const bool is_of_channels = !all_channels.empty() && made.axes[axis] == all_channels;
    View outer = made;  // the positions around those that are joined
    if (!is_of_channels) outer.axes.resize(axis);
    const long long before = outer.count(positions);
    std::vector<std::vector<int>> all;
    long long extent = 0;  // of all parts along the axis
    for (const View& part : parts) {
        std::vector<Parts> wanted = made.axes;
        const Parts& own = part.axes[axis_of(node.number("axis"), part.axes.size())];
        if (!is_of_channels) wanted[axis] = parts_of({.axes = {own}}, positions);
        if (part.axes != wanted || part.factor != 1 || part.count(channels) != map.channels)
            throw Refused{"of parts that differ"};
        extent += part.dims()[axis];
        all.push_back(positions_of(part));
    }
    std::vector<int> order;
    for (long long k = 0; k < before; ++k) {
        for (const std::vector<int>& some : all) {
            const long long each = std::ssize(some) / before;
            order.insert(order.end(), some.begin() + k * each, some.begin() + (k + 1) * each);
        }
    }
    made.name = node.name();
    if (is_of_channels) {
        Numbers sides;  // of the map that remains
        for (const Parts& of : made.axes)
            for (const Part& part : of)
                if (part.of == positions) sides.push_back(part.extent);
        const bool is_plane = sides.size() == 2;
        const Shape merged{map.channels * node.inputs(), is_plane ? extent_of(sides[0]) : 1,
                           extent_of(is_plane ? sides[1] : before)};
        made.layer = graph_.rearrange(made.name, made.layer, merged, std::move(order));
        made.axes[axis] = joined({{channels, merged.channels}});
        renumber(made, positions);
    } else {
        made.axes[axis] = joined({{positions, extent}});
        renumber(made, positions, std::move(order));
    }
    views_[node.output()] = std::move(made);
    return true;
}

bool Values::is_flat(int layer) const
{
    for (int index = static_cast<int>(flat_.size()); index <= layer; ++index) {
        const Layer& of = graph_.layer(index);
        const bool flattens = of.kind == LayerKind::flatten || of.kind == LayerKind::linear ||
                              (of.kind == LayerKind::take_positions && of.order.empty());
        const bool spreads = of.inputs.empty() || of.kind == LayerKind::convolution;
        flat_.push_back(flattens || (!spreads && flat_[static_cast<std::size_t>(of.inputs.front())]));
    }
    return flat_[static_cast<std::size_t>(layer)];
}

const onnx::NodeProto* Values::only_reader(const Node& node) const
{
    const auto found = readers_.find(node.output());
    return found != readers_.end() && found->second.size() == 1 ? found->second.front() : nullptr;
}

void Values::put(const std::string& value, int layer)
{
    const Shape& map = graph_.layer(layer).output;
    views_[value] = View::of(layer, map, batch_, is_flat(layer) && map.height * map.width == 1 ? 2 : 4);
}

View& Values::view(const Node& node, int index)
{
    const auto found = views_.find(node.input(index));
    if (found == views_.end()) throw Refused{"of '" + node.input(index) + "', which is no layer's output"};
    return found->second;
}

bool Values::reads_constants(const Node& node) const
{
    for (int index = 0; index < node.inputs(); ++index)
        if (node.has(index) && constant(node, index) == nullptr) return false;
    return true;
}

Tensor Values::shape_of(const Node& node)
{
    node.require("start", 0);
    if (node.attribute("end") != nullptr) throw Refused{"with an end"};
    Reals dims;
    const Tensor* const given = constant(node, 0);
    for (const long long extent : given != nullptr ? given->dims : view(node).dims())
        dims.push_back(static_cast<double>(extent));
    return {.dims = {static_cast<long long>(dims.size())}, .numbers = dims, .is_float = false};
}

/// Throws Refused.
Tensor Values::fold(const Node& node)
{
    constexpr std::size_t most_folded = 1 << 22;  // 32 MiB
    const onnx::NodeProto* const reader = only_reader(node);
    Tensor made = folded(node, constants_, reader != nullptr && Node::operation_of(*reader) == "Resize");
    const std::size_t count = made.numbers ? listed_count(made.dims) : 0;
    folded_ += count + made.dims.size();
    if (folded_ > most_folded) throw Refused{"after 4 million integers that the file computes from shapes"};
    return made;
}

/// Of channels in an order of their own a layer is made, which is cut then.
View& Values::to_cut(const Node& node)
{
    View& of = view(node);
    if (!are_together(parts_of(of, Part::Of::channels))) whole(of);
    return of;
}

bool Values::split(const Node& node)
{
    const View& of = to_cut(node);
    const long long axis = node.number("axis", 0), parts = node.outputs();
    const Numbers dims = of.dims();
    const long long extent = dims[axis_of(axis, dims.size())];
    const Tensor* const given = constant(node, 1);
    Numbers sizes = given != nullptr ? given->values() : node.numbers("split", {});
    if (sizes.empty()) {
        const long long each = (extent + parts - 1) / parts;
        sizes.assign(static_cast<std::size_t>(parts), each);
        sizes.back() = extent - each * (parts - 1);
    }
    if (std::ssize(sizes) != parts) throw Refused{"into " + text(sizes)};
    long long first = 0;
    for (int part = 0; part < parts; ++part) {
        const long long size = sizes[static_cast<std::size_t>(part)], left = extent - first;
        const bool fits = part + 1 < parts ? size < left : size == left;
        if (size < 1 || !fits) throw Refused{"into " + text(sizes)};
        View made = sliced(of, axis, first, first + size);
        made.name = node.name() + "." + std::to_string(part);
        views_[node.output(part)] = std::move(made);
        first += size;
    }
    return true;
}

View Values::view_of(const Node& node)
{
    const std::string& operation = node.operation();
    View of = operation == "Gather" || operation == "Slice" ? to_cut(node) : view(node);
    const auto numbers = [&](int index, const std::string& attribute, const Numbers& usual) {
        const Tensor* const given = constant(node, index);
        if (given == nullptr && node.has(index)) throw Refused{"by numbers that are not constant"};
        return given != nullptr ? given->values() : node.numbers(attribute, usual);
    };
    if (operation == "Flatten") {
        node.require_axis(1, of.axes.size(), 1);
        return reshaped(of, {0, -1});
    }
    if (operation == "Reshape") {
        if (constant(node, 1) == nullptr) throw Refused{"to a shape that is not constant"};
        return reshaped(of, numbers(1, "", {}));
    }
    if (operation == "Transpose") return transposed(of, node.numbers("perm", {}));
    if (operation == "Pad") {
        const Numbers pads = numbers(1, "pads", {});
        if (pads.empty() || std::ranges::any_of(pads, [](long long pad) { return pad != 0; }))
            throw Refused{"with other than zeros"};
        return of;
    }
    if (operation == "Gather") {
        const Tensor* const places = constant(node, 1);
        const Numbers at = places != nullptr ? places->values() : Numbers{};
        if (at.size() != 1) throw Refused{"of other than one place"};
        const long long axis = node.number("axis", 0);
        View one = sliced(of, axis, at[0], at[0] == -1 ? std::numeric_limits<long long>::max() : at[0] + 1);
        return places->dims.empty() ? squeezed(one, {axis}) : one;
    }
    if (operation == "Slice") {
        const Numbers first = numbers(1, "starts", {}), end = numbers(2, "ends", {});
        Numbers axes = numbers(3, "axes", {});
        Numbers steps = numbers(4, "steps", {});
        steps.resize(first.size(), 1);
        for (std::size_t k = axes.size(); k < first.size(); ++k) axes.push_back(static_cast<long long>(k));
        if (first.empty() || end.size() != first.size() || axes.size() != first.size())
            throw Refused{"of places that are not given"};
        for (const long long axis : axes) {
            const Parts& parts = of.axes[axis_of(axis, of.axes.size())];
            if (parts.size() > 1 && parts[0].of == Part::Of::positions)
                renumber(of, Part::Of::positions, positions_of(of));
        }
        for (std::size_t k = 0; k < axes.size(); ++k) of = sliced(of, axes[k], first[k], end[k], steps[k]);
        return of;
    }
    const Numbers axes = numbers(1, "axes", {});  // of Identity none
    return operation == "Squeeze" ? squeezed(of, axes) : unsqueezed(of, axes);
}

}  // namespace roof::model::onnx_file
