#include "workloads/model/onnx_node.hpp"

#include "ert/base/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace roof::model::onnx_file {
namespace {

template <class Element>
void append_raw(Numbers& numbers, const std::string& raw)
{
    for (std::size_t at = 0; at + sizeof(Element) <= raw.size(); at += sizeof(Element)) {
        Element value{};
        std::memcpy(&value, raw.data() + at, sizeof(Element));
        numbers.push_back(static_cast<long long>(value));
    }
}

bool all_equal(const Numbers& numbers)
{
    return std::ranges::adjacent_find(numbers, std::not_equal_to{}) == numbers.end();
}

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

std::string text(const Numbers& numbers)
{
    std::vector<std::string> words;
    for (const long long number : numbers) words.push_back(std::to_string(number));
    return join(words, "x");
}

Constant::Constant(const onnx::TensorProto& tensor)
    : dims(tensor.dims().begin(), tensor.dims().end()), origin(tensor.name())
{
    if (tensor.data_type() == onnx::TensorProto::INT64) {
        values.assign(tensor.int64_data().begin(), tensor.int64_data().end());
        append_raw<std::int64_t>(values, tensor.raw_data());
    } else if (tensor.data_type() == onnx::TensorProto::FLOAT) {
        float value = 0;
        if (tensor.float_data_size() == 1) scalar = tensor.float_data(0);
        if (tensor.raw_data().size() != sizeof(value)) return;
        std::memcpy(&value, tensor.raw_data().data(), sizeof(value));
        scalar = value;
    }
}

Window window_of(const Node& node, const Numbers& kernel)
{
    const Numbers strides = node.numbers("strides", {1, 1});
    const Numbers pads = node.numbers("pads", {0, 0, 0, 0});
    const Numbers dilations = node.numbers("dilations", {1, 1});
    const std::string automatic = node.word("auto_pad", "NOTSET");
    if (automatic != "NOTSET" && automatic != "VALID") throw Refused{"with auto_pad " + automatic};
    if (kernel.size() != 2 || !all_equal(kernel)) throw Refused{"with a window of " + text(kernel)};
    if (strides.size() != 2 || !all_equal(strides)) throw Refused{"with strides of " + text(strides)};
    if (pads.size() != 4 || !all_equal(pads)) throw Refused{"with pads of " + text(pads)};
    if (dilations.size() != 2 || !all_equal(dilations)) throw Refused{"with dilations of " + text(dilations)};
    return {static_cast<int>(kernel[0]), static_cast<int>(strides[0]), static_cast<int>(pads[0]),
            static_cast<int>(dilations[0])};
}

bool is_folded(const std::string& operation)
{
    return functions().contains(operation);
}

Constant fold(const Node& node, const std::vector<const Constant*>& inputs)
{
    return functions().at(node.operation())(node, inputs);
}

}  // namespace roof::model::onnx_file
