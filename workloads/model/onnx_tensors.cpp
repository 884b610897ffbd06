#include "workloads/model/onnx_tensors.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace roof::model::onnx_file {
namespace {

constexpr long long farthest = 1LL << 31;  ///< an extent, or a number that shapes are computed from
constexpr long long most_listed = 64;      ///< floats of a list from which a shape is computed

/// The bits of an IEEE half. Infinity and NaN become numbers from 65,536 on.
float from_half(std::uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

/// Nothing where the file does not hold so many.
template <class Element, class Listed>
std::optional<Reals> listed(const Listed& list, const std::string& raw, long long count)
{
    if (list.size() == count) return Reals(list.begin(), list.end());
    std::vector<Element> values(raw.size() / sizeof(Element));
    if (static_cast<long long>(values.size()) != count) return std::nullopt;
    std::memcpy(values.data(), raw.data(), values.size() * sizeof(Element));
    return Reals(values.begin(), values.end());
}

}  // namespace

void fail(const Node& node, const std::string& what)
{
    throw InputError(node.operation() + " at '" + node.name() + "' " + what);
}

long long count_of(const Numbers& dims, std::size_t from, std::size_t to)
{
    constexpr long long most = 1LL << 62;
    long long all = 1;
    for (std::size_t axis = from; axis < std::min(to, dims.size()); ++axis) {
        if (dims[axis] < 0 || dims[axis] > farthest) throw InputError("a tensor cannot be of " + text(dims));
        if (__builtin_mul_overflow(all, dims[axis], &all) || all > most)
            throw InputError("a tensor of " + text(dims) + " has more than 2^62 values");
    }
    return all;
}

std::size_t axis_of(const Node& node, long long axis, std::size_t axes)
{
    const long long found = axis < 0 ? axis + static_cast<long long>(axes) : axis;
    if (found < 0 || found >= static_cast<long long>(axes)) fail(node, "has no axis " + std::to_string(axis));
    return static_cast<std::size_t>(found);
}

bool is_float(int type)
{
    return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 ||
           type == onnx::TensorProto::BFLOAT16 || type == onnx::TensorProto::DOUBLE;
}

Numbers whole(const Reals& numbers)
{
    constexpr auto most = static_cast<double>(farthest);
    Numbers made;
    for (const double number : numbers) made.push_back(static_cast<long long>(std::clamp(number, -most, most)));
    return made;
}

std::optional<Reals> numbers_in(const onnx::TensorProto& tensor, long long count)
{
    const std::string& raw = tensor.raw_data();
    const int type = tensor.data_type();
    if (type == onnx::TensorProto::INT64) return listed<std::int64_t>(tensor.int64_data(), raw, count);
    if (type == onnx::TensorProto::INT32) return listed<std::int32_t>(tensor.int32_data(), raw, count);
    if (count > most_listed) return std::nullopt;
    if (type == onnx::TensorProto::FLOAT) return listed<float>(tensor.float_data(), raw, count);
    if (type == onnx::TensorProto::DOUBLE) return listed<double>(tensor.double_data(), raw, count);
    if (!is_float(type)) return std::nullopt;
    auto made = listed<std::uint16_t>(tensor.int32_data(), raw, count);  // bits
    if (!made) return made;
    for (double& number : *made) {
        const auto bits = static_cast<std::uint16_t>(static_cast<long long>(number));
        number = static_cast<double>(
            type == onnx::TensorProto::FLOAT16 ? from_half(bits) : std::bit_cast<float>(std::uint32_t{bits} << 16));
    }
    return made;
}

Numbers Tensor::values() const
{
    constexpr double most = 0x1p62;  // the largest integers, as in the ends of slices, are no doubles
    Numbers made;
    for (const double number : numbers && !is_float ? *numbers : Reals{})
        made.push_back(static_cast<long long>(std::clamp(number, -most, most)));
    return made;
}

std::optional<float> Tensor::scalar() const
{
    const bool is_one = numbers && is_float && numbers->size() == 1;
    return is_one ? std::optional(static_cast<float>(numbers->front())) : std::nullopt;
}

Tensors::Tensors(const onnx::GraphProto& proto, Sizes sizes) : sizes_(std::move(sizes))
{
    for (const auto* const list : {&proto.value_info(), &proto.output()})
        for (const onnx::ValueInfoProto& one : *list) told_[one.name()] = &one;
    for (const onnx::TensorProto& tensor : proto.initializer()) put(tensor.name(), tensor);
}

void Tensors::put_inputs(const onnx::GraphProto& proto)
{
    for (const onnx::ValueInfoProto& input : proto.input())
        if (!values_.contains(input.name())) add_input(input);
}

void Tensors::put(const std::string& name, const onnx::TensorProto& constant)
{
    Tensor made{.dims = {constant.dims().begin(), constant.dims().end()},
                .is_float = onnx_file::is_float(constant.data_type()),
                .is_constant = true,
                .origin = name};
    made.numbers = numbers_in(constant, count_of(made.dims));
    put(name, std::move(made));
}

bool Tensors::put_constant(const Node& node)
{
    if (const onnx::AttributeProto* const tensor = node.attribute("value")) {
        put(node.output(), tensor->t());
        return true;
    }
    Tensor made{.is_constant = true, .origin = node.output()};
    const Numbers list = node.numbers("value_ints", {});
    if (node.attribute("value_ints") != nullptr) {
        made.dims = {static_cast<long long>(list.size())};
        made.numbers = Reals(list.begin(), list.end());
    }
    if (node.attribute("value_int") != nullptr) made.numbers = Reals{static_cast<double>(node.number("value_int", 0))};
    made.is_float = !made.numbers;
    if (node.attribute("value_float") != nullptr) made.numbers = Reals{node.real("value_float", 0)};
    const bool is_known = made.numbers.has_value();
    put(node.output(), std::move(made));
    return is_known;
}

/// One image, or sequence, where the first extent is open.
void Tensors::add_input(const onnx::ValueInfoProto& input)
{
    const auto& type = input.type().tensor_type();
    Tensor tensor{.is_float = onnx_file::is_float(type.elem_type())};
    for (int axis = 0; axis < type.shape().dim_size(); ++axis) {
        const auto& dim = type.shape().dim(axis);
        const std::string& open = dim.dim_param();
        if (axis == 0 && dim.dim_value() < 1) batch_names_.insert(open);
        const auto extent = extent_in(dim);
        if (!extent)
            throw InputError("axis " + std::to_string(axis) + " of its input '" + input.name() + "' has no number" +
                             (open.empty() ? "" : "; give it one: --size " + open + "=N"));
        tensor.dims.push_back(*extent);
    }
    if (batch_ == 0 && !tensor.dims.empty()) batch_ = static_cast<double>(tensor.dims[0]);
    inputs_ += static_cast<double>(count_of(tensor.dims));
    put(input.name(), std::move(tensor));
}

std::optional<long long> Tensors::extent_in(const onnx::TensorShapeProto::Dimension& dim) const
{
    if (dim.dim_value() > 0) return dim.dim_value();
    const auto given = sizes_.find(dim.dim_param());
    if (given != sizes_.end()) return given->second;
    if (batch_names_.contains(dim.dim_param())) return 1;
    return std::nullopt;
}

const Tensor* Tensors::find(const Node& node, int index) const
{
    const auto found = node.has(index) ? values_.find(node.input(index)) : values_.end();
    return found == values_.end() ? nullptr : &found->second;
}

const Tensor& Tensors::at(const Node& node, int index) const
{
    const Tensor* const found = find(node, index);
    if (found == nullptr)
        fail(node, node.has(index) ? "reads '" + node.input(index) + "', whose shape is unknown"
                                   : "has no input " + std::to_string(index));
    return *found;
}

const Numbers* Tensors::shape(const std::string& value) const
{
    const auto found = values_.find(value);
    return found == values_.end() ? nullptr : &found->second.dims;
}

std::optional<Numbers> Tensors::numbers(const Node& node, int index, const std::string& attribute) const
{
    if (const Tensor* const given = find(node, index))
        return given->numbers ? std::optional(whole(*given->numbers)) : std::nullopt;
    if (node.attribute(attribute) == nullptr) return std::nullopt;
    return node.numbers(attribute, {});
}

std::optional<Numbers> Tensors::told(const std::string& value) const
{
    const auto found = told_.find(value);
    if (found == told_.end()) return std::nullopt;
    Numbers made;
    for (const auto& dim : found->second->type().tensor_type().shape().dim()) {
        const auto extent = extent_in(dim);
        if (!extent) return std::nullopt;
        made.push_back(*extent);
    }
    return made;
}

}  // namespace roof::model::onnx_file
