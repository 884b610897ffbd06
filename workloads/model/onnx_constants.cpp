#include "workloads/model/onnx_constants.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace roof::model::onnx_file {
namespace {

using Inputs = std::vector<const Constant*>;

const Constant& at(const Inputs& inputs, std::size_t index)
{
    if (index >= inputs.size() || inputs[index] == nullptr) throw Refused{"without input " + std::to_string(index)};
    return *inputs[index];
}

Constant list(Numbers values)
{
    Constant made;
    made.dims = {static_cast<long long>(values.size())};
    made.values = std::move(values);
    return made;
}

/// PyTorch writes integers; their places are counted from the end where they are negative.
long long place(long long index, std::size_t count)
{
    const auto size = static_cast<long long>(count);
    const long long found = index < 0 ? index + size : index;
    if (found < 0 || found >= size) throw Refused{"outside a list of " + std::to_string(size)};
    return found;
}

Constant gather(const Node& node, const Inputs& inputs)
{
    node.require("axis", 0);
    const Numbers& values = at(inputs, 0).values;
    Constant made;
    made.dims = at(inputs, 1).dims;
    for (const long long index : at(inputs, 1).values)
        made.values.push_back(values[static_cast<std::size_t>(place(index, values.size()))]);
    return made;
}

Constant concat(const Node& node, const Inputs& inputs)
{
    node.require("axis", 0);
    Numbers values;
    for (std::size_t k = 0; k < inputs.size(); ++k)
        values.insert(values.end(), at(inputs, k).values.begin(), at(inputs, k).values.end());
    return list(values);
}

Constant slice(const Node&, const Inputs& inputs)
{
    const Numbers& values = at(inputs, 0).values;
    const auto size = static_cast<long long>(values.size());
    const auto bound = [&](std::size_t input) {
        const long long given = at(inputs, input).values.at(0);
        return std::clamp(given < 0 ? given + size : given, 0LL, size);
    };
    if (inputs.size() > 4 && at(inputs, 4).values != Numbers{1}) throw Refused{"with steps"};
    return list({values.begin() + bound(1), values.begin() + std::max(bound(1), bound(2))});
}

Constant arithmetic(const Node& node, const Inputs& inputs)
{
    const Constant& left = at(inputs, 0);
    const Constant& right = at(inputs, 1);
    if (left.values.size() != 1 || right.values.size() != 1) throw Refused{"of lists of integers"};
    const long long a = left.values.front();
    const long long b = right.values.front();
    constexpr long long farthest = 1LL << 31;
    if (std::abs(a) > farthest || std::abs(b) > farthest) throw Refused{"of a size that the file leaves open"};
    if (node.operation() == "Div" && b == 0) throw Refused{"by zero"};
    Constant made = left.dims.empty() ? right : left;
    made.values = {node.operation() == "Add"   ? a + b
                   : node.operation() == "Sub" ? a - b
                   : node.operation() == "Mul" ? a * b
                                               : a / b};
    return made;
}

/// The same values in a list or alone.
Constant reshaped(const Node& node, const Inputs& inputs)
{
    Constant made = at(inputs, 0);
    if (made.values.size() != 1) throw Refused{"of a list of integers"};
    made.dims = node.operation() == "Unsqueeze" ? Numbers{1} : Numbers{};
    return made;
}

Constant transposed(const Node& node, const Inputs& inputs)
{
    Constant made = at(inputs, 0);
    if (made.dims.size() != 2 || node.numbers("perm", {1, 0}) != Numbers{1, 0}) throw Refused{"of a constant"};
    std::swap(made.dims[0], made.dims[1]);
    return made;
}

Constant same(const Node&, const Inputs& inputs)
{
    return at(inputs, 0);
}

using Function = Constant (*)(const Node&, const Inputs&);

const std::map<std::string, Function>& functions()
{
    static const std::map<std::string, Function> all{
        {"Add", arithmetic},   {"Cast", same},      {"Concat", concat},        {"Div", arithmetic},
        {"Gather", gather},    {"Identity", same},  {"Mul", arithmetic},       {"Slice", slice},
        {"Squeeze", reshaped}, {"Sub", arithmetic}, {"Transpose", transposed}, {"Unsqueeze", reshaped}};
    return all;
}

}  // namespace

bool is_folded(const std::string& operation)
{
    return functions().contains(operation);
}

Constant fold(const Node& node, const std::vector<const Constant*>& inputs)
{
    return functions().at(node.operation())(node, inputs);
}

}  // namespace roof::model::onnx_file
