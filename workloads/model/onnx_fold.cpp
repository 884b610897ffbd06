// What exporters compute from shapes, on short lists, and masks of attention.
#include "workloads/model/onnx_tensors.hpp"
#include "workloads/model/onnx_view.hpp"

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
    const Reals from = std::move(*tensor.numbers);
    tensor.numbers = Reals{};
    Numbers index(dims.size(), 0);
    long long at = first;
    while (tensor.numbers->size() < count) {
        tensor.numbers->push_back(from.at(static_cast<std::size_t>(at)));
        for (std::size_t axis = dims.size(); axis-- > 0;) {
            at += strides[axis];
            if (++index[axis] < dims[axis]) break;
            at -= strides[axis] * dims[axis];
            index[axis] = 0;
        }
    }
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
    if (std::max(std::abs(x), std::abs(y)) > 1LL << 31) throw Refused{"of a size that the file leaves open"};
    if (operation == "Add") return x + y;
    if (operation == "Sub") return x - y;
    if (operation == "Mul") return x * y;
    if (operation == "Pow") return std::pow(x, y);
    if (y == 0) throw Refused{"by zero"};
    if (operation == "Mod") return x - y * std::floor(x / y);
    return is_float ? x / y : std::trunc(x / y);
}

/// Value by value.
Tensor computed(const Node& node, const Tensor& left, const Tensor& right)
{
    const Numbers dims = shape_of_both(left.dims, right.dims);
    Tensor made = expanded(left, dims);
    const Tensor other = expanded(right, dims);
    made.origin.clear();
    made.is_zero = false;
    made.is_float = left.is_float && node.operation() != "Equal";
    if (!made.numbers || !other.numbers) throw Refused{"of lists of " + text(dims)};
    for (std::size_t k = 0; k < made.numbers->size(); ++k)
        (*made.numbers)[k] = computed(node.operation(), (*made.numbers)[k], (*other.numbers)[k], left.is_float);
    return made;
}

Tensor chosen(const Tensor& is_first, const Tensor& first, const Tensor& second)
{
    const Numbers dims = shape_of_both(is_first.dims, shape_of_both(first.dims, second.dims));
    const Tensor by = expanded(is_first, dims), other = expanded(second, dims);
    Tensor made = expanded(first, dims);
    made.origin.clear();
    made.is_zero = false;
    if (!by.numbers || !made.numbers || !other.numbers) throw Refused{"of lists of " + text(dims)};
    for (std::size_t k = 0; k < made.numbers->size(); ++k)
        if ((*by.numbers)[k] == 0) (*made.numbers)[k] = (*other.numbers)[k];
    return made;
}

Tensor concatenated(const Node& node, const Tensors& constants)
{
    Tensor made = input(node, constants, 0);
    made.origin.clear();
    made.is_zero = false;
    const std::size_t axis = axis_of(node.number("axis", 0), made.dims.size());
    long long outer = 1, extent = 0;
    for (std::size_t k = 0; k < axis; ++k) outer *= made.dims[k];
    made.numbers = Reals{};
    for (long long k = 0; k < outer; ++k) {
        for (int index = 0; index < node.inputs(); ++index) {
            const Tensor& part = input(node, constants, index);
            Numbers dims = part.dims;
            if (dims.size() != made.dims.size()) throw Refused{"of " + text(dims) + " and " + text(made.dims)};
            if (k == 0) extent += dims[axis];
            dims[axis] = made.dims[axis];
            if (dims != made.dims) throw Refused{"of " + text(part.dims) + " and " + text(made.dims)};
            const long long each = std::ssize(*part.numbers) / outer;
            made.numbers->insert(made.numbers->end(), part.numbers->begin() + k * each,
                                 part.numbers->begin() + (k + 1) * each);
        }
    }
    made.dims[axis] = extent;
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
    steps.resize(std::max(steps.size(), starts.size()), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size()) throw Refused{"of places that are not given"};
    Numbers dims = from.dims, strides = strides_of(dims);
    long long first = 0;
    for (std::size_t k = 0; k < starts.size(); ++k) {
        const std::size_t axis = axis_of(axes[k], dims.size());
        const long long step = steps[k];
        if (step == 0 || std::abs(step) > 1LL << 31) throw Refused{"with step " + std::to_string(step)};
        const long long begin = bound_of(starts[k], dims[axis], step < 0),
                        end = bound_of(ends[k], dims[axis], step < 0);
        const long long taken = (end - begin + step - (step > 0 ? 1 : -1)) / step;
        dims[axis] = std::max(0LL, taken);
        first += begin * strides[axis];
        strides[axis] *= step;
    }
    return strided(from, dims, strides, first);
}

/// ConstantOfShape's value, as often as `shape` says.
Tensor repeated(const Node& node, const Numbers& shape)
{
    const onnx::AttributeProto* const value = node.attribute("value");
    Tensor made{.dims = {}, .numbers = Reals{0}, .is_float = value == nullptr || is_float(value->t().data_type())};
    if (value != nullptr) {
        Tensors one;
        one.put("", value->t());
        const auto& given = one.find("")->numbers;
        if (given && given->size() == 1) made.numbers = given;
    }
    return expanded(made, shape);
}

Tensor gathered(const Node& node, const Tensor& list, const Tensor& places)
{
    const Numbers at = places.values();
    Tensor made = list;
    made.origin.clear();
    made.is_zero = false;
    made.numbers = Reals{};
    if (node.operation() == "GatherElements") {
        const bool is_row = !list.dims.empty() && list.dims.back() == static_cast<long long>(list.numbers->size());
        if (!is_row) throw Refused{"of more than one axis"};
        node.require_axis(std::ssize(list.dims) - 1, list.dims.size(), 0);
        made.dims = places.dims;
        for (const long long one : at) made.numbers->push_back((*list.numbers)[place(one, list.numbers->size())]);
        return made;
    }
    const std::size_t axis = axis_of(node.number("axis", 0), list.dims.size());
    const auto extent = static_cast<std::size_t>(list.dims[axis]);
    const auto inner = static_cast<std::size_t>(strides_of(list.dims)[axis]);
    const std::size_t outer = extent * inner == 0 ? 0 : list.numbers->size() / (extent * inner);
    if (outer * inner * at.size() > most_listed) throw Refused{"of too many places"};
    for (std::size_t k = 0; k < outer; ++k)
        for (const long long one : at)
            for (std::size_t i = 0; i < inner; ++i)
                made.numbers->push_back((*list.numbers)[(k * extent + place(one, extent)) * inner + i]);
    made.dims.erase(made.dims.begin() + static_cast<long long>(axis));
    made.dims.insert(made.dims.begin() + static_cast<long long>(axis), places.dims.begin(), places.dims.end());
    return made;
}

/// Of trained vectors those at these places: the first ones, or the first for all of them; else rows of a table.
Tensor rows_of(const Tensor& table, const Tensor& places)
{
    const Numbers at = places.values();
    if (places.dims.empty() || at.empty() || table.dims.size() != 2)
        throw Refused{"of trained vectors, at places that are not constant"};
    const auto count = static_cast<std::size_t>(places.dims.back());  // of each image
    bool are_first = true, are_same = true;
    for (std::size_t k = 0; k < at.size(); ++k) {
        are_first = are_first && at[k] == static_cast<long long>(k % count);
        are_same = are_same && at[k] == 0;
    }
    Tensor made = table;
    made.numbers.reset();
    made.dims = {are_same ? 1 : places.dims.back(), table.dims[1]};
    if (are_first || are_same) return made;
    made.table = table.dims;
    made.dims = places.dims;
    made.dims.push_back(table.dims[1]);
    if (static_cast<std::size_t>(count_of(made.dims)) > most_listed) throw Refused{"of too many trained vectors"};
    made.numbers = Reals{};
    for (const long long row : at)
        for (long long k = 0; k < table.dims[1]; ++k)
            made.numbers->push_back(static_cast<double>(
                static_cast<long long>(place(row, static_cast<std::size_t>(table.dims[0]))) * table.dims[1] + k));
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
Tensor scattered(Tensor made, const Tensor& indices, const Tensor& updates)
{
    const Numbers at = indices.values(), strides = strides_of(made.dims);
    const auto depth = static_cast<std::size_t>(indices.dims.empty() ? 0 : indices.dims.back());
    if (depth == 0 || depth > made.dims.size()) throw Refused{"of places in " + text(indices.dims)};
    const auto each = static_cast<std::size_t>(strides[depth - 1]);
    if (at.size() / depth * each != updates.numbers->size()) throw Refused{"of " + text(updates.dims)};
    for (std::size_t k = 0; k < at.size() / depth; ++k) {
        std::size_t to = 0;
        for (std::size_t axis = 0; axis < depth; ++axis)
            to += place(at[k * depth + axis], static_cast<std::size_t>(made.dims[axis])) *
                  static_cast<std::size_t>(strides[axis]);
        for (std::size_t i = 0; i < each; ++i) made.numbers->at(to + i) = (*updates.numbers)[k * each + i];
    }
    made.origin.clear();
    made.is_zero = false;
    return made;
}

Tensor counted(double first, double end, double step)
{
    const double count = step == 0 ? most_listed + 1 : std::ceil((end - first) / step);
    if (count > most_listed) throw Refused{"of too many numbers"};
    Tensor made{.dims = {std::max(0LL, static_cast<long long>(count))}, .numbers = Reals{}, .is_float = false};
    for (int k = 0; k < made.dims[0]; ++k) made.numbers->push_back(first + k * step);
    return made;
}

/// Reshape, Squeeze and Unsqueeze.
Numbers shape_after(const Node& node, const Tensors& constants, const Numbers& dims)
{
    const Tensor* const given = constants.find(node, 1);
    const Numbers by = given != nullptr ? given->values() : node.numbers("axes", {});
    if (node.operation() == "Reshape") return reshaped(dims, by);
    std::set<std::size_t> axes;
    const bool adds = node.operation() == "Unsqueeze";
    for (const long long axis : by) axes.insert(axis_of(axis, dims.size() + (adds ? by.size() : 0)));
    Numbers made;
    std::size_t next = 0;
    for (std::size_t axis = 0; adds && axis < dims.size() + axes.size(); ++axis)
        made.push_back(axes.contains(axis) ? 1 : dims.at(next++));
    for (std::size_t axis = 0; !adds && axis < dims.size(); ++axis) {
        const bool is_gone = by.empty() ? dims[axis] == 1 : axes.contains(axis);
        if (is_gone && dims[axis] != 1) throw Refused{"of an axis of " + std::to_string(dims[axis])};
        if (!is_gone) made.push_back(dims[axis]);
    }
    return made;
}

}  // namespace

bool is_folded(const std::string& operation)
{
    static const std::set<std::string> all{"Add",
                                           "Cast",
                                           "Concat",
                                           "ConstantOfShape",
                                           "Div",
                                           "Equal",
                                           "Expand",
                                           "Gather",
                                           "GatherElements",
                                           "Identity",
                                           "Mod",
                                           "Mul",
                                           "Not",
                                           "Pow",
                                           "Range",
                                           "Reshape",
                                           "ScatterND",
                                           "Slice",
                                           "Sqrt",
                                           "Squeeze",
                                           "Sub",
                                           "Transpose",
                                           "Unsqueeze",
                                           "Where"};
    return all.contains(operation);
}

Tensor folded(const Node& node, const Tensors& constants)
{
    const std::string& operation = node.operation();
    Tensor made = input(node, constants, 0);
    if (operation == "Identity") return made;
    if (operation == "Transpose") return transposed(node, made);
    if (operation == "Cast") {
        made.is_float = is_float(static_cast<int>(node.number("to", onnx::TensorProto::FLOAT)));
        for (std::size_t k = 0; !made.is_float && made.numbers && k < made.numbers->size(); ++k)
            (*made.numbers)[k] = std::trunc((*made.numbers)[k]);
        return made;
    }
    if (operation == "Expand") return expanded(made, input(node, constants, 1).values());
    if (operation == "ConstantOfShape") return repeated(node, made.values());
    if (operation == "Gather" && made.is_float && made.dims.size() > 1) return rows_of(made, input(node, constants, 1));
    const bool is_shaped = operation == "Reshape" || operation == "Squeeze" || operation == "Unsqueeze";
    for (int index = 0; index < node.inputs(); ++index) {
        const Tensor* const given = constants.find(node, index);
        if (given == nullptr) continue;
        const bool is_number = given->numbers && given->numbers->size() == 1;
        const bool is_table = !given->table.empty();
        if (is_table ? !is_shaped : given->is_float && !given->origin.empty() && !is_number) throw Refused{"of floats"};
        if (!given->numbers) throw Refused{"of constants that are no lists of integers"};
    }
    if (is_shaped) {
        made.dims = shape_after(node, constants, made.dims);
        return made;
    }
    if (operation == "Concat") return concatenated(node, constants);
    if (operation == "Slice") return sliced(node, constants);
    if (operation == "Sqrt" || operation == "Not") {
        for (double& number : *made.numbers) number = operation == "Sqrt" ? std::sqrt(number) : number == 0 ? 1 : 0;
        return made;
    }
    const Tensor& second = input(node, constants, 1);
    if (operation.starts_with("Gather")) return gathered(node, made, second);
    if (operation != "Where" && operation != "Range" && operation != "ScatterND") return computed(node, made, second);
    const Tensor& third = input(node, constants, 2);
    if (operation == "Where") return chosen(made, second, third);
    if (operation == "ScatterND") return scattered(std::move(made), second, third);
    const auto only = [](const Tensor& of) {
        if (of.numbers->size() != 1) throw Refused{"of more than one number"};
        return of.numbers->front();
    };
    return counted(only(made), only(second), only(third));
}

}  // namespace roof::model::onnx_file
