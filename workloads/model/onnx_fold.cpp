// What exporters compute from shapes, on short lists.
#include "workloads/model/onnx_tensors.hpp"

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

/// Value by value; a list of one value is repeated.
Tensor computed(const Node& node, const Tensor& left, const Tensor& right)
{
    const std::string& operation = node.operation();
    const Reals &a = *left.numbers, &b = *right.numbers;
    const bool is_longer = a.size() >= b.size();
    Tensor made{.dims = is_longer ? left.dims : right.dims, .numbers = Reals{}, .is_float = left.is_float};
    if (a.empty() || (a.size() != b.size() && std::min(a.size(), b.size()) != 1))
        throw Refused{"of lists of " + std::to_string(a.size()) + " and " + std::to_string(b.size())};
    for (std::size_t k = 0; k < std::max(a.size(), b.size()); ++k) {
        const double x = a[a.size() == 1 ? 0 : k], y = b[b.size() == 1 ? 0 : k];
        if (std::max(std::abs(x), std::abs(y)) > 1LL << 31) throw Refused{"of a size that the file leaves open"};
        if (y == 0 && (operation == "Div" || operation == "Mod")) throw Refused{"by zero"};
        made.numbers->push_back(operation == "Add"   ? x + y
                                : operation == "Sub" ? x - y
                                : operation == "Mul" ? x * y
                                : operation == "Mod" ? x - y * std::floor(x / y)
                                : left.is_float      ? x / y
                                                     : std::trunc(x / y));
    }
    return made;
}

Tensor joined(const Node& node, const Tensors& constants)
{
    node.require_axis(0, 1, 0);
    Tensor made{.dims = {}, .numbers = Reals{}, .is_float = false};
    for (int index = 0; index < node.inputs(); ++index) {
        const Tensor& part = input(node, constants, index);
        made.numbers->insert(made.numbers->end(), part.numbers->begin(), part.numbers->end());
    }
    made.dims = {static_cast<long long>(made.numbers->size())};
    return made;
}

/// Of the only axis of a list.
Tensor sliced(const Node& node, const Tensors& constants)
{
    const Reals& list = *input(node, constants, 0).numbers;
    const auto only = [&](int index, const std::string& attribute, long long usual) {
        const Tensor* const given = constants.find(node, index);
        const Numbers values = given != nullptr ? given->values() : node.numbers(attribute, {usual});
        if (values.size() != 1) throw Refused{"of more than one axis"};
        return values.front();
    };
    const auto size = static_cast<long long>(list.size());
    if (only(3, "axes", 0) != 0 || only(4, "steps", 1) != 1) throw Refused{"with another axis or step"};
    const long long first = bound_of(only(1, "starts", 0), size);
    const long long last = std::max(first, bound_of(only(2, "ends", size), size));
    const Reals part(list.begin() + first, list.begin() + last);
    return {.dims = {static_cast<long long>(part.size())}, .numbers = part, .is_float = false};
}

/// The shape of both, whose last axes stand beside each other; a list of integers is repeated along the first ones.
Tensor expanded(Tensor tensor, Numbers to)
{
    Numbers own = tensor.dims;
    to.insert(to.begin(), std::max(to.size(), own.size()) - to.size(), 1);
    for (std::size_t k = 1; k <= own.size(); ++k) to[to.size() - k] = std::max(to[to.size() - k], own[own.size() - k]);
    const auto all = static_cast<std::size_t>(count_of(to));
    own.erase(own.begin(), std::ranges::find_if(own, [](long long extent) { return extent != 1; }));
    const bool is_repeated =
        tensor.numbers && !tensor.is_float && all <= 65'536 && std::equal(own.rbegin(), own.rend(), to.rbegin());
    if (is_repeated) {
        const std::size_t count = tensor.numbers->size();
        for (std::size_t k = count; count > 0 && k < all; ++k) tensor.numbers->push_back((*tensor.numbers)[k - count]);
    } else if (all != static_cast<std::size_t>(count_of(tensor.dims))) {
        tensor.numbers.reset();
    }
    tensor.dims = std::move(to);
    return tensor;
}

/// ConstantOfShape's value, as often as `shape` says.
Tensor repeated(const Node& node, const Numbers& shape)
{
    Tensor made{.dims = {1}, .numbers = Reals{0}, .is_zero = true};
    if (const onnx::AttributeProto* const value = node.attribute("value")) {
        Tensors one;
        one.put("", value->t());
        made = *one.find("");
    }
    return expanded(made, shape);
}

/// Where and Equal, value by value; a list of one value is repeated.
Tensor chosen(const Node& node, const Tensors& constants)
{
    const bool compares = node.operation() == "Equal";
    std::vector<const Tensor*> all;
    std::size_t most = 0;
    for (int index = 0; index < (compares ? 2 : 3); ++index) {
        all.push_back(&input(node, constants, index));
        most = std::max(most, all.back()->numbers->size());
    }
    Tensor made{.dims = {static_cast<long long>(most)}, .numbers = Reals{}, .is_float = false};
    const auto at = [&](std::size_t which, std::size_t k) {
        const Reals& list = *all[which]->numbers;
        if (list.size() != most && list.size() != 1) throw Refused{"of lists of different lengths"};
        return list[list.size() == 1 ? 0 : k];
    };
    for (std::size_t k = 0; k < most; ++k)
        made.numbers->push_back(compares ? at(0, k) == at(1, k) : at(0, k) != 0 ? at(1, k) : at(2, k));
    return made;
}

Tensor gathered(const Node& node, const Tensor& list, const Tensor& places)
{
    Tensor made{.dims = places.dims, .numbers = Reals{}, .is_float = list.is_float};
    const bool is_row = !list.dims.empty() && list.dims.back() == static_cast<long long>(list.numbers->size());
    if (!is_row || (list.dims.size() > 1 && node.operation() == "Gather")) throw Refused{"of more than one axis"};
    node.require_axis(std::ssize(list.dims) - 1, list.dims.size(), 0);
    for (const long long one : places.values())
        made.numbers->push_back((*list.numbers)[place(one, list.numbers->size())]);
    return made;
}

/// Of trained vectors those at these places: the first ones, or the first for all of them.
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
    if (!are_first && !are_same) throw Refused{"of trained vectors in an order of their own"};
    Tensor made = table;
    made.numbers.reset();
    made.dims = {are_same ? 1 : places.dims.back(), table.dims[1]};
    return made;
}

/// Weights are turned as PyTorch's new exporter does it; their numbers are not read.
Tensor transposed(const Node& node, Tensor tensor)
{
    const std::size_t axes = tensor.dims.size();
    Numbers perm = node.numbers("perm", {}), dims;
    for (std::size_t axis = axes; perm.size() < axes && axis-- > 0;) perm.push_back(static_cast<long long>(axis));
    if (perm.size() != axes || std::set(perm.begin(), perm.end()).size() != axes) throw Refused{"by " + text(perm)};
    for (const long long axis : perm) dims.push_back(tensor.dims[place(axis, axes)]);
    tensor.dims = dims;
    if (axes > 1) tensor.numbers.reset();
    return tensor;
}

}  // namespace

bool is_folded(const std::string& operation)
{
    static const std::set<std::string> all{"Add",     "Cast",   "Concat",    "ConstantOfShape", "Div",
                                           "Equal",   "Expand", "Gather",    "GatherElements",  "Identity",
                                           "Mod",     "Mul",    "Reshape",   "Slice",           "Sqrt",
                                           "Squeeze", "Sub",    "Transpose", "Unsqueeze",       "Where"};
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
    for (int index = 0; index < node.inputs(); ++index) {
        const Tensor* const given = constants.find(node, index);
        if (given == nullptr) continue;
        const bool is_number = given->numbers && given->numbers->size() == 1;
        if (given->is_float && !given->origin.empty() && !is_number) throw Refused{"of floats"};
        if (!given->numbers) throw Refused{"of constants that are no lists of integers"};
    }
    if (operation == "Concat") return joined(node, constants);
    if (operation == "Slice") return sliced(node, constants);
    if (operation == "Equal" || operation == "Where") return chosen(node, constants);
    if (operation == "Sqrt") {
        for (double& number : *made.numbers) number = std::sqrt(number);
        return made;
    }
    if (operation == "Reshape") {
        made.dims = {static_cast<long long>(made.numbers->size())};
        return made;
    }
    if (operation == "Squeeze" || operation == "Unsqueeze") {  // of a list, or of one number
        const bool is_list = operation == "Unsqueeze" || made.numbers->size() != 1;
        made.dims = is_list ? Numbers{static_cast<long long>(made.numbers->size())} : Numbers{};
        return made;
    }
    const Tensor& right = input(node, constants, 1);
    return operation.starts_with("Gather") ? gathered(node, made, right) : computed(node, made, right);
}

}  // namespace roof::model::onnx_file
