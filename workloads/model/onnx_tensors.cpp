#include "workloads/model/onnx_tensors.hpp"

#include "ert/base/error.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace roof::model::onnx_file {
namespace {

constexpr long long farthest = 1LL << 31;  ///< an extent

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

/// So many integers, or at most 64 floats. Nothing for other types and numbers, and for values elsewhere.
std::optional<Reals> numbers_in(const onnx::TensorProto& tensor, long long count)
{
    const std::string& raw = tensor.raw_data();
    const int type = tensor.data_type();
    if (type == onnx::TensorProto::INT64) return listed<std::int64_t>(tensor.int64_data(), raw, count);
    if (type == onnx::TensorProto::INT32) return listed<std::int32_t>(tensor.int32_data(), raw, count);
    if (count > most_floats) return std::nullopt;
    if (type == onnx::TensorProto::FLOAT) return listed<float>(tensor.float_data(), raw, count);
    if (type == onnx::TensorProto::DOUBLE) return listed<double>(tensor.double_data(), raw, count);
    if (!is_float(type)) return std::nullopt;
    auto made = listed<std::uint16_t>(tensor.int32_data(), raw, count);  // bits
    for (std::size_t k = 0; made && k < made->size(); ++k) {
        const auto bits = static_cast<std::uint16_t>(static_cast<long long>((*made)[k]));
        (*made)[k] = static_cast<double>(
            type == onnx::TensorProto::FLOAT16 ? from_half(bits) : std::bit_cast<float>(std::uint32_t{bits} << 16));
    }
    return made;
}

}  // namespace

long long count_of(const Numbers& dims)
{
    constexpr long long most = 1LL << 62;
    long long all = 1;
    for (const long long extent : dims) {
        if (extent < 0 || extent > farthest) throw InputError("a tensor cannot be of " + text(dims));
        if (__builtin_mul_overflow(all, std::max(1LL, extent), &all) || all > most)
            throw InputError("a tensor of " + text(dims) + " has more than 2^62 values");
    }
    return std::ranges::find(dims, 0) == dims.end() ? all : 0;
}

std::size_t listed_count(const Numbers& dims)
{
    const auto count = static_cast<std::size_t>(count_of(dims));
    if (count > most_listed) throw Refused{"to a list of more than 262,144 integers"};
    return count;
}

bool is_float(int type)
{
    return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 ||
           type == onnx::TensorProto::BFLOAT16 || type == onnx::TensorProto::DOUBLE;
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

Tensors::Tensors(const onnx::GraphProto& proto)
{
    for (const onnx::TensorProto& tensor : proto.initializer()) put(tensor.name(), tensor);
}

void Tensors::put(const std::string& name, const onnx::TensorProto& constant)
{
    Tensor made{.dims = {constant.dims().begin(), constant.dims().end()},
                .is_float = onnx_file::is_float(constant.data_type()),
                .origin = name};
    made.numbers = numbers_in(constant, count_of(made.dims));
    const std::string& raw = constant.raw_data();
    made.is_zero = made.numbers ? std::ranges::all_of(*made.numbers, [](double number) { return number == 0; })
                                : !raw.empty() && raw.find_first_not_of('\0') == std::string::npos;
    put(name, std::move(made));
}

bool Tensors::put_constant(const Node& node)
{
    if (const onnx::AttributeProto* const tensor = node.attribute("value")) {
        put(node.output(), tensor->t());
        return true;
    }
    Tensor made{.origin = node.output()};
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

}  // namespace roof::model::onnx_file
