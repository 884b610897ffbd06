#include "workloads/model/onnx_values.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace roof::model::onnx_file {
namespace {

bool makes_view(const std::string& operation)
{
    static const std::set<std::string> all{"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
    return all.contains(operation);
}

long long product(const Numbers& numbers)
{
    constexpr long long most = 1LL << 40;
    long long result = 1;
    for (const long long number : numbers) {
        if (std::abs(result) > most / std::max(1LL, std::abs(number))) throw Refused{"of " + text(numbers) + " values"};
        result *= number;
    }
    return result;
}

std::size_t axis_of(long long axis, std::size_t axes)
{
    const long long found = axis < 0 ? axis + static_cast<long long>(axes) : axis;
    if (found < 1 || found >= static_cast<long long>(axes)) throw Refused{"of axis " + std::to_string(axis)};
    return static_cast<std::size_t>(found);
}

/// The view in the shape that Reshape names: the batch, then sizes, one of which may be -1; 0 keeps that of the view.
/// `batch`: the number of images as the file has it. Throws Refused.
View reshaped(View view, const Numbers& to, long long batch)
{
    if (to.empty()) throw Refused{"to a single value"};
    Numbers dims(to.begin() + 1, to.end());
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] == 0 && axis < view.dims.size()) dims[axis] = view.dims[axis];
        if (dims[axis] < -1 || dims[axis] == 0 || dims[axis] > 1LL << 31) throw Refused{"to " + text(to)};
    }
    const long long elements = product(view.dims);
    const auto rest = std::ranges::find(dims, -1);
    if (rest != dims.end()) *rest = elements / std::max(1LL, std::abs(product(dims)));
    const bool keeps_batch = to[0] == batch || to[0] == 0 || to[0] == -1;
    if (!keeps_batch || std::ranges::count(to, -1) > 1 || product(dims) != elements)
        throw Refused{"to " + text(to) + ", which is not the batch and its values"};
    view.dims = std::move(dims);
    return view;
}

/// The view with its axes permuted; perm[0] is the batch. `map`: the layer's output. Only whole channels can move.
View transposed(View view, const Numbers& perm, const Shape& map)
{
    const std::size_t axes = view.dims.size();
    std::set<long long> seen(perm.begin(), perm.end());
    if (perm.size() != axes + 1 || perm[0] != 0 || seen.size() != perm.size() || *seen.begin() != 0 ||
        *seen.rbegin() != static_cast<long long>(axes))
        throw Refused{"by " + text(perm)};
    std::size_t moved = axes;  // the axes behind stay in place
    while (moved > 0 && perm[moved] == static_cast<long long>(moved)) --moved;
    if (moved == 0) return view;
    const Numbers before(view.dims.begin(), view.dims.begin() + static_cast<std::ptrdiff_t>(moved));
    const long long positions = 1LL * map.height * map.width;
    const long long block = product(view.dims) / std::max(1LL, product(before));
    if (block % positions != 0) throw Refused{"by " + text(perm) + ", which moves more than channels"};

    Numbers after, strides(moved, 1);
    for (std::size_t axis = moved; axis-- > 1;) strides[axis - 1] = strides[axis] * before[axis];
    for (std::size_t axis = 0; axis < moved; ++axis)
        after.push_back(before[static_cast<std::size_t>(perm[axis + 1] - 1)]);
    const int together = static_cast<int>(block / positions);  // channels
    std::vector<int> order;
    for (long long at = 0; at < product(after); ++at) {
        long long from = 0;
        long long rest = at;
        for (std::size_t axis = moved; axis-- > 0;) {
            from += rest % after[axis] * strides[static_cast<std::size_t>(perm[axis + 1] - 1)];
            rest /= after[axis];
        }
        for (int channel = 0; channel < together; ++channel) {
            const int source = static_cast<int>(from) * together + channel;
            order.push_back(view.order.empty() ? source : view.order[static_cast<std::size_t>(source)]);
        }
    }
    std::ranges::copy(after, view.dims.begin());
    if (!std::ranges::is_sorted(order) || !view.order.empty()) view.order = std::move(order);
    return view;
}

/// Without axes of size 1. `axes` count the batch; negative ones count from the end.
View squeezed(View view, const Numbers& axes)
{
    std::set<std::size_t> gone;
    for (const long long axis : axes) gone.insert(axis_of(axis, view.dims.size() + 1));
    Numbers kept;
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis) {
        const bool is_gone = axes.empty() ? view.dims[axis] == 1 : gone.contains(axis + 1);
        if (is_gone && view.dims[axis] != 1) throw Refused{"of an axis of " + std::to_string(view.dims[axis])};
        if (!is_gone) kept.push_back(view.dims[axis]);
    }
    view.dims = std::move(kept);
    return view;
}

/// With axes of size 1; `axes` as those of the result.
View unsqueezed(View view, Numbers axes)
{
    const std::size_t count = view.dims.size() + 1 + axes.size();
    for (long long& axis : axes) axis = static_cast<long long>(axis_of(axis, count));
    std::ranges::sort(axes);
    for (const long long axis : axes) {
        if (axis - 1 > static_cast<long long>(view.dims.size())) throw Refused{"of axis " + std::to_string(axis)};
        view.dims.insert(view.dims.begin() + axis - 1, 1);
    }
    return view;
}

}  // namespace

const onnx::ValueInfoProto& input_of(const onnx::GraphProto& proto)
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

Shape image_of(const onnx::GraphProto& proto)
{
    const auto& dims = input_of(proto).type().tensor_type().shape().dim();
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

Values::Values(const onnx::GraphProto& proto, Graph& graph) : graph_(graph), constants_(proto)
{
    const onnx::ValueInfoProto& input = input_of(proto);
    const long long images = input.type().tensor_type().shape().dim(0).dim_value();
    batch_ = images > 0 ? images : open_batch;
    put(input.name(), 0);
    for (const onnx::NodeProto& node : proto.node()) {
        for (const std::string& value : node.input()) readers_[value].push_back(&node);
    }
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
    } else if (makes_view(operation)) {
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
    const Shape& map = graph_.layer(of.layer).output;
    const Numbers plain{map.channels, map.height, map.width};
    if (of.dims != plain && of.dims.size() != 1) throw Refused{"of values in the shape " + text(of.dims)};
    if (!of.order.empty()) of.layer = graph_.shuffle(of.name, of.layer, of.order);
    of.order.clear();
    if (of.dims.size() == 1 && !is_flat(of.layer)) of.layer = graph_.flatten(of.name, of.layer);
    return of.layer;
}

bool Values::is_flat(int layer) const
{
    for (int index = static_cast<int>(flat_.size()); index <= layer; ++index) {
        const Layer& of = graph_.layer(index);
        const bool flattens = of.kind == LayerKind::flatten || of.kind == LayerKind::linear;
        const bool spreads = index == 0 || of.inputs.empty() || of.kind == LayerKind::convolution;
        flat_.push_back(flattens || (!spreads && flat_[static_cast<std::size_t>(of.inputs.front())]));
    }
    return flat_[static_cast<std::size_t>(layer)];
}

const onnx::NodeProto* Values::only_reader(const Node& node) const
{
    const auto found = readers_.find(node.output());
    return found != readers_.end() && found->second.size() == 1 ? found->second.front() : nullptr;
}

View Values::map_of(int layer) const
{
    const Shape& of = graph_.layer(layer).output;
    if (is_flat(layer)) return {layer, {of.channels}};
    return {layer, {of.channels, of.height, of.width}};
}

View& Values::view(const Node& node, int index)
{
    const auto found = views_.find(node.input(index));
    if (found == views_.end()) throw Refused{"of '" + node.input(index) + "', which is no layer's output"};
    return found->second;
}

bool Values::reads_constants(const Node& node) const
{
    for (int index = 0; index < node.inputs(); ++index) {
        if (node.has(index) && constant(node, index) == nullptr) return false;
    }
    return true;
}

Tensor Values::shape_of(const Node& node)
{
    node.require("start", 0);
    if (node.attribute("end") != nullptr) throw Refused{"with an end"};
    Reals dims{static_cast<double>(batch_)};
    for (const long long extent : view(node).dims) dims.push_back(static_cast<double>(extent));
    return {.dims = {static_cast<long long>(dims.size())}, .numbers = dims, .is_float = false};
}

/// Throws Refused.
Tensor Values::fold(const Node& node)
{
    constexpr std::size_t most_listed = 65'536, most_folded = 1 << 22;  // 32 MiB
    Tensor made = folded(node, constants_);
    const std::size_t count = made.numbers ? made.numbers->size() : 0;
    if (count > most_listed) throw Refused{"to a list of more than 65,536 integers"};
    folded_ += count + made.dims.size();
    if (folded_ > most_folded) throw Refused{"after 4 million integers that the file computes from shapes"};
    return made;
}

View Values::view_of(const Node& node)
{
    const View& of = view(node);
    const Tensor* const given = constant(node, 1);
    const std::string& operation = node.operation();
    if (operation == "Flatten") {
        node.require_axis(1, of.dims.size() + 1, 1);
        return reshaped(of, {batch_, -1}, batch_);
    }
    if (operation == "Reshape") {
        if (given == nullptr) throw Refused{"to a shape that is not constant"};
        return reshaped(of, given->values(), batch_);
    }
    if (operation == "Transpose") return transposed(of, node.numbers("perm", {}), graph_.layer(of.layer).output);
    if (operation == "Identity") return of;
    const Numbers axes = given != nullptr ? given->values() : node.numbers("axes", {});
    return operation == "Squeeze" ? squeezed(of, axes) : unsqueezed(of, axes);
}

}  // namespace roof::model::onnx_file
