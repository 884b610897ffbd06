// What exporters compute from shapes, on short lists, and masks of attention.
#include "ert/base/text.hpp"
#include "workloads/model/onnx_node.hpp"
#include "workloads/model/onnx_values.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace roof::model::onnx_file {
namespace {

const Tensor& input(const Node& node, const Tensors& constants, int index)
{
    const Tensor* const found = constants.find(node, index);
    if (found == nullptr) throw Refused{"without input " + std::to_string(index)};
    return *found;
}

std::size_t place(long long index, std::size_t size)
{
    const long long found = index < 0 ? index + static_cast<long long>(size) : index;
    if (found < 0 || found >= static_cast<long long>(size)) throw Refused{"of place " + std::to_string(index)};
    return static_cast<std::size_t>(found);
}

/// Throws Refused for floats, and where they are not known.
Numbers integers(const Tensor& list)
{
    if (!list.numbers || list.is_float) throw Refused{"of constants that are no lists of integers"};
    return list.values();
}

/// Of a list in the order of its axes: how far apart the numbers of neighbours along each are.
Numbers strides_of(const Numbers& dims)
{
    Numbers strides(dims.size(), 1);
    for (std::size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * std::max(1LL, dims[axis]);
    return strides;
}

/// The numbers at `first` and so far apart along each axis; they are unknown where there are too many.
Tensor strided(Tensor tensor, const Numbers& dims, const Numbers& strides, long long first = 0)
{
    const auto count = static_cast<std::size_t>(count_of(dims));
    tensor.dims = dims;
    if (!tensor.numbers || count > most_listed) {
        tensor.numbers.reset();
        return tensor;
    }
    Reals made;
    Numbers index(dims.size(), 0);
    long long at = first;
    while (made.size() < count) {
        made.push_back(tensor.numbers->at(static_cast<std::size_t>(at)));
        for (std::size_t axis = dims.size(); axis-- > 0;) {
            at += strides[axis];
            if (++index[axis] < dims[axis]) break;
            at -= strides[axis] * dims[axis];
            index[axis] = 0;
        }
    }
    tensor.numbers = std::move(made);
    return tensor;
}

/// The shape of both, whose last axes stand beside each other; one of 1 is repeated.
Numbers shape_of_both(Numbers a, Numbers b)
{
    if (a.size() < b.size()) std::swap(a, b);
    b.insert(b.begin(), a.size() - b.size(), 1);
    for (std::size_t axis = 0; axis < a.size(); ++axis) {
        if (a[axis] != b[axis] && a[axis] != 1 && b[axis] != 1)
            throw Refused{"of lists of " + text(a) + " and " + text(b)};
        a[axis] = a[axis] == 1 ? b[axis] : a[axis];
    }
    return a;
}

Tensor expanded(const Tensor& tensor, const Numbers& to)
{
    const Numbers dims = shape_of_both(tensor.dims, to);
    Numbers strides = strides_of(tensor.dims);
    for (std::size_t axis = 0; axis < strides.size(); ++axis) strides[axis] *= tensor.dims[axis] == 1 ? 0 : 1;
    strides.insert(strides.begin(), dims.size() - strides.size(), 0);
    return strided(tensor, dims, strides);
}

double computed(const std::string& operation, double x, double y, bool is_float)
{
    if (operation == "Equal") return x == y ? 1 : 0;
    if (operation == "Not") return x == 0 ? 1 : 0;
    if (operation == "Sqrt") return std::sqrt(x);
    if (std::max(std::abs(x), std::abs(y)) > 1LL << 31) throw Refused{"of a size that the file leaves open"};
    if (operation == "Add") return x + y;
    if (operation == "Sub") return x - y;
    if (operation == "Mul") return x * y;
    if (operation == "Pow") return std::pow(x, y);
    if (y == 0) throw Refused{"by zero"};
    if (operation == "Mod") return x - y * std::floor(x / y);
    return is_float ? x / y : std::trunc(x / y);
}

/// Value by value, of inputs beside each other.
Tensor computed(const Node& node, const Tensors& constants)
{
    const std::string& operation = node.operation();
    Numbers dims;
    for (int index = 0; index < node.inputs(); ++index) dims = shape_of_both(dims, input(node, constants, index).dims);
    const std::size_t count = listed_count(dims);
    const auto at = [&](int index) { return *expanded(input(node, constants, index), dims).numbers; };
    const int first = operation == "Where" ? 1 : 0;
    const bool is_real = input(node, constants, first).is_float, is_of_one = operation == "Sqrt" || operation == "Not";
    Reals made = at(first);
    const Reals by = at(0), second = is_of_one ? made : at(first + 1);
    for (std::size_t k = 0; k < count; ++k) {
        if (operation != "Where") made[k] = computed(operation, made[k], second[k], is_real);
        if (operation == "Where" && by[k] == 0) made[k] = second[k];
    }
    return {.dims = dims, .numbers = made, .is_float = is_real && operation != "Equal"};
}

Tensor concatenated(const Node& node, const Tensors& constants)
{
    const Tensor& first = input(node, constants, 0);
    const std::size_t axis = axis_of(node.number("axis"), first.dims.size());
    Tensor made{.dims = first.dims, .numbers = Reals{}, .is_float = first.is_float};
    made.dims[axis] = 0;
    for (int index = 0; index < node.inputs(); ++index) {
        const Numbers& dims = input(node, constants, index).dims;
        Numbers like = dims;
        if (like.size() == first.dims.size()) like.at(axis) = first.dims[axis];
        if (like != first.dims) throw Refused{"of " + text(dims) + " and " + text(first.dims)};
        made.dims[axis] += dims[axis];
    }
    const long long count = static_cast<long long>(listed_count(made.dims)),
                    row = made.dims[axis] * strides_of(made.dims)[axis];
    for (long long outer = 0; outer * row < count; ++outer) {
        for (int index = 0; index < node.inputs(); ++index) {
            const Tensor& part = input(node, constants, index);
            const long long each = part.dims[axis] * strides_of(part.dims)[axis];
            const auto from = part.numbers->begin() + outer * each;
            made.numbers->insert(made.numbers->end(), from, from + each);
        }
    }
    return made;
}

Tensor sliced(const Node& node, const Tensors& constants)
{
    const Tensor& from = input(node, constants, 0);
    const auto numbers = [&](int index, const std::string& attribute) {
        const Tensor* const given = constants.find(node, index);
        return given != nullptr ? given->values() : node.numbers(attribute, {});
    };
    const Numbers starts = numbers(1, "starts"), ends = numbers(2, "ends");
    Numbers axes = numbers(3, "axes"), steps = numbers(4, "steps");
    for (auto axis = std::ssize(axes); axis < std::ssize(starts); ++axis) axes.push_back(axis);
    steps.resize(starts.size(), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size()) throw Refused{"of places that are not given"};
    Numbers dims = from.dims, strides = strides_of(dims);
    long long first = 0;
    for (std::size_t k = 0; k < starts.size(); ++k) {
        const std::size_t axis = axis_of(axes[k], dims.size());
        const long long step = steps[k];
        if (step == 0 || std::abs(step) > 1LL << 31) throw Refused{"with step " + std::to_string(step)};
        const long long sign = step / std::abs(step);
        const long long begin = bound_of(starts[k], dims[axis], sign == -1);
        const long long end = bound_of(ends[k], dims[axis], sign == -1);
        dims[axis] = std::max(0LL, (end - begin + step - sign) / step);
        first += begin * strides[axis];
        strides[axis] *= step;
    }
    return strided(from, dims, strides, first);
}

/// ConstantOfShape's value, as often as `shape` says.
Tensor repeated(const Node& node, const Numbers& shape)
{
    const onnx::AttributeProto* const value = node.attribute("value");
    Tensors one;
    if (value != nullptr) one.put("", value->t());
    const Tensor given = value != nullptr ? *one.find("") : Tensor{.numbers = Reals{0}};
    if (given.numbers.value_or(Reals{}).size() != 1) throw Refused{"of a value that is not read"};
    return expanded({.numbers = given.numbers, .is_float = given.is_float}, shape);
}

Tensor gathered(const Node& node, const Tensor& list, const Tensor& places)
{
    const Numbers at = integers(places);
    Tensor made{.dims = places.dims, .numbers = Reals{}, .is_float = list.is_float};
    if (node.operation() == "GatherElements") {
        const bool is_row = !list.dims.empty() && list.dims.back() == static_cast<long long>(list.numbers->size());
        if (!is_row) throw Refused{"of more than one axis"};
        node.require_axis(std::ssize(list.dims) - 1, list.dims.size(), 0);
        for (const long long one : at) made.numbers->push_back((*list.numbers)[place(one, list.numbers->size())]);
        return made;
    }
    const std::size_t axis = axis_of(node.number("axis", 0), list.dims.size());
    const auto extent = static_cast<std::size_t>(list.dims[axis]);
    const auto inner = static_cast<std::size_t>(strides_of(list.dims)[axis]);
    const auto behind = list.dims.begin() + static_cast<long long>(axis);
    made.dims.insert(made.dims.begin(), list.dims.begin(), behind);
    made.dims.insert(made.dims.end(), behind + 1, list.dims.end());
    const std::size_t count = listed_count(made.dims);
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t outer = k / inner / at.size(), from = place(at[k / inner % at.size()], extent);
        made.numbers->push_back((*list.numbers)[(outer * extent + from) * inner + k % inner]);
    }
    return made;
}

/// Of trained vectors those at these places: the first ones, or the first for all of them; else rows of a table.
Tensor rows_of(const Tensor& table, const Tensor& places)
{
    Numbers at = places.values();
    if (places.dims.empty() || at.empty() || table.dims.size() != 2)
        throw Refused{"of trained vectors, at places that are not constant"};
    const long long of_image = places.dims.back(), width = table.dims[1];
    bool are_first = true;
    for (std::size_t k = 0; k < at.size(); ++k) {
        at[k] = static_cast<long long>(place(at[k], static_cast<std::size_t>(table.dims[0])));
        are_first = are_first && at[k] == static_cast<long long>(k) % of_image;
    }
    const bool are_same = std::ranges::count(at, 0) == std::ssize(at);
    Tensor made{.dims = {are_same ? 1 : of_image, width}, .is_float = table.is_float, .origin = table.origin};
    if (are_first || are_same) return made;
    made.table = table.dims;
    made.dims = places.dims;
    made.dims.push_back(width);
    made.numbers = Reals(listed_count(made.dims));
    for (long long k = 0; k < std::ssize(*made.numbers); ++k)
        (*made.numbers)[static_cast<std::size_t>(k)] =
            static_cast<double>(at[static_cast<std::size_t>(k / width)] * width + k % width);
    return made;
}

Tensor transposed(const Node& node, const Tensor& tensor)
{
    const std::size_t axes = tensor.dims.size();
    Numbers perm = node.numbers("perm", {}), dims, strides;
    for (std::size_t axis = axes; perm.size() < axes && axis-- > 0;) perm.push_back(static_cast<long long>(axis));
    if (perm.size() != axes || std::set(perm.begin(), perm.end()).size() != axes) throw Refused{"by " + text(perm)};
    for (const long long axis : perm) {
        dims.push_back(tensor.dims[place(axis, axes)]);
        strides.push_back(strides_of(tensor.dims)[place(axis, axes)]);
    }
    return strided(tensor, dims, strides);
}

/// With other numbers where the indices say, in the order of the first axes.
Tensor scattered(const Tensor& list, const Tensor& indices, const Tensor& updates)
{
    Tensor made{.dims = list.dims, .numbers = list.numbers, .is_float = list.is_float};
    const Numbers at = integers(indices), strides = strides_of(made.dims);
    const auto depth = static_cast<std::size_t>(indices.dims.empty() ? 0 : indices.dims.back());
    if (depth == 0 || depth > made.dims.size()) throw Refused{"of places in " + text(indices.dims)};
    const auto each = static_cast<std::size_t>(strides.at(depth - 1));
    if (at.size() / depth * each != updates.numbers->size()) throw Refused{"of " + text(updates.dims)};
    for (std::size_t k = 0; k < at.size() / depth; ++k) {
        std::size_t to = 0;
        for (std::size_t axis = 0; axis < depth; ++axis)
            to += place(at[k * depth + axis], static_cast<std::size_t>(made.dims[axis])) *
                  static_cast<std::size_t>(strides[axis]);
        for (std::size_t i = 0; i < each; ++i) made.numbers->at(to + i) = (*updates.numbers)[k * each + i];
    }
    return made;
}

Tensor counted(double first, double end, double step, bool is_float)
{
    const double count = std::max(0.0, std::ceil((end - first) / step));
    if (step == 0 || count > most_listed) throw Refused{"of too many numbers"};
    Tensor made{.dims = {static_cast<long long>(count)}, .numbers = Reals{}, .is_float = is_float};
    for (int k = 0; k < made.dims[0]; ++k) made.numbers->push_back(first + k * step);
    return made;
}

/// Reshape, Squeeze and Unsqueeze.
Numbers shape_after(const Node& node, const Tensors& constants, const Numbers& dims)
{
    const Tensor* const given = constants.find(node, 1);
    const Numbers by = given != nullptr ? integers(*given) : node.numbers("axes", {});
    if (node.operation() == "Reshape") return reshaped(dims, by);
    View view;
    for (const long long extent : dims) view.axes.push_back({{Part::Of::positions, extent}});
    return (node.operation() == "Squeeze" ? squeezed(view, by) : unsqueezed(view, by)).dims();
}

}  // namespace

bool is_folded(const std::string& operation)
{
    static const std::vector<std::string> all = split(
        "Add Cast Concat ConstantOfShape Div Equal Expand Gather GatherElements Identity Mod Mul Not Pow Range Reshape "
        "ScatterND Slice Sqrt Squeeze Sub Transpose Unsqueeze Where",
        ' ');
    return std::ranges::find(all, operation) != all.end();
}

Tensor folded(const Node& node, const Tensors& constants, bool are_scales)
{
    const std::string& operation = node.operation();
    Tensor made = input(node, constants, 0);
    if (operation == "Identity") return made;
    if (operation == "Transpose") return transposed(node, made);
    if (operation == "Cast") {
        const auto to = static_cast<int>(node.number("to", onnx::TensorProto::FLOAT));
        made.is_float = is_float(to);
        for (std::size_t k = 0; !made.is_float && made.numbers && k < made.numbers->size(); ++k) {
            double& one = (*made.numbers)[k];
            one = to == onnx::TensorProto::BOOL ? (one != 0 ? 1 : 0) : std::trunc(one);
        }
        return made;
    }
    if (operation == "Expand") {
        Tensor repeated = expanded(made, integers(input(node, constants, 1)));
        Numbers of_image = repeated.dims;  // the same numbers for all images are still one token
        if (of_image.size() == 3) of_image[0] = 1;
        if (made.is_float && !made.origin.empty() && !made.scalar() && count_of(of_image) != count_of(made.dims))
            throw Refused{"of trained numbers to several places"};
        return repeated;
    }
    if (operation == "ConstantOfShape") return repeated(node, integers(made));
    if (operation == "Gather" && made.is_float && made.dims.size() > 1) return rows_of(made, input(node, constants, 1));
    const bool is_shaped = operation == "Reshape" || operation == "Squeeze" || operation == "Unsqueeze";
    for (int index = 0; index < node.inputs(); ++index) {
        const Tensor* const given = constants.find(node, index);
        if (given == nullptr) continue;
        const bool is_number = given->numbers && given->numbers->size() == 1;
        const bool is_table = !given->table.empty();
        if (is_table ? !is_shaped : given->is_float && !given->origin.empty() && !is_number && !are_scales)
            throw Refused{"of floats"};
        if (!given->numbers) throw Refused{"of constants that are no lists of integers"};
    }
    if (is_shaped) {
        made.dims = shape_after(node, constants, made.dims);
        return made;
    }
    if (operation == "Concat") return concatenated(node, constants);
    if (operation == "Slice") return sliced(node, constants);
    if (operation.starts_with("Gather")) return gathered(node, made, input(node, constants, 1));
    if (operation != "Range" && operation != "ScatterND") return computed(node, constants);
    const Tensor &second = input(node, constants, 1), &third = input(node, constants, 2);
    if (operation == "ScatterND") return scattered(made, second, third);
    const auto only = [](const Tensor& of) {
        if (of.numbers->size() != 1) throw Refused{"of more than one number"};
        return of.numbers->front();
    };
    return counted(only(made), only(second), only(third), made.is_float);
}

}  // namespace roof::model::onnx_file
