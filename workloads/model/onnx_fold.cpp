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
    if (a.empty() || b.empty() || (a.size() != b.size() && std::min(a.size(), b.size()) != 1))
        throw Refused{"of lists of " + std::to_string(a.size()) + " and " + std::to_string(b.size())};
    for (std::size_t k = 0; k < std::max(a.size(), b.size()); ++k) {
        const double x = a[a.size() == 1 ? 0 : k], y = b[b.size() == 1 ? 0 : k];
        if (std::max(std::abs(x), std::abs(y)) > 1LL << 31) throw Refused{"of a size that the file leaves open"};
        if (operation == "Div" && y == 0) throw Refused{"by zero"};
        const double quotient = operation == "Div" ? x / y : 0;
        made.numbers->push_back(operation == "Add"   ? x + y
                                : operation == "Sub" ? x - y
                                : operation == "Mul" ? x * y
                                : left.is_float      ? quotient
                                                     : std::trunc(quotient));
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
    const long long first = bound_of(only(1, "starts", 0), size), last = bound_of(only(2, "ends", size), size);
    const Reals part(list.begin() + first, list.begin() + std::max(first, last));
    return {.dims = {static_cast<long long>(part.size())}, .numbers = part, .is_float = false};
}

Tensor gathered(const Node& node, const Tensor& list, const Tensor& places)
{
    Tensor made{.dims = places.dims, .numbers = Reals{}, .is_float = list.is_float};
    if (list.dims.size() != 1 || node.number("axis", 0) != 0) throw Refused{"of more than one axis"};
    for (const long long one : places.values())
        made.numbers->push_back((*list.numbers)[place(one, list.numbers->size())]);
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
    static const std::set<std::string> all{"Add", "Cast",  "Concat",  "Div", "Gather",    "Identity",
                                           "Mul", "Slice", "Squeeze", "Sub", "Transpose", "Unsqueeze"};
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
    for (int index = 0; index < node.inputs(); ++index) {
        const Tensor* const given = constants.find(node, index);
        if (given == nullptr) continue;
        if (given->is_float && !given->origin.empty()) throw Refused{"of floats"};
        if (!given->numbers) throw Refused{"of constants that are no lists of integers"};
    }
    if (operation == "Concat") return joined(node, constants);
    if (operation == "Slice") return sliced(node, constants);
    if (operation == "Squeeze" || operation == "Unsqueeze") {  // of a list, or of one number
        const bool is_list = operation == "Unsqueeze" || made.numbers->size() != 1;
        made.dims = is_list ? Numbers{static_cast<long long>(made.numbers->size())} : Numbers{};
        return made;
    }
    const Tensor& right = input(node, constants, 1);
    return operation == "Gather" ? gathered(node, made, right) : computed(node, made, right);
}

}  // namespace roof::model::onnx_file
