#include "workloads/model/onnx_node.hpp"

#include "ert/base/text.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

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
    const onnx::AttributeProto* const automatic = node.attribute("auto_pad");
    if (automatic != nullptr && automatic->s() != "NOTSET" && automatic->s() != "VALID")
        throw Refused{"with auto_pad " + automatic->s()};
    if (kernel.size() != 2 || !all_equal(kernel)) throw Refused{"with a window of " + text(kernel)};
    if (strides.size() != 2 || !all_equal(strides)) throw Refused{"with strides of " + text(strides)};
    if (pads.size() != 4 || !all_equal(pads)) throw Refused{"with pads of " + text(pads)};
    if (dilations.size() != 2 || !all_equal(dilations)) throw Refused{"with dilations of " + text(dilations)};
    return {static_cast<int>(kernel[0]), static_cast<int>(strides[0]), static_cast<int>(pads[0]),
            static_cast<int>(dilations[0])};
}

}  // namespace roof::model::onnx_file
