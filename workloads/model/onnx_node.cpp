#include "workloads/model/onnx_node.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace roof::model::onnx_file {

namespace {

bool all_equal(const Numbers& numbers)
{
    return std::ranges::adjacent_find(numbers, std::not_equal_to{}) == numbers.end();
}

void drop_unread(onnx::GraphProto& graph)
{
    std::set<std::string> read;
    for (const onnx::ValueInfoProto& output : graph.output()) read.insert(output.name());
    std::vector<onnx::NodeProto> kept;
    for (auto node = graph.node().rbegin(); node != graph.node().rend(); ++node) {
        const auto is_read = [&](const std::string& value) { return read.contains(value); };
        if (std::ranges::none_of(node->output(), is_read)) continue;
        read.insert(node->input().begin(), node->input().end());
        kept.push_back(*node);
    }
    *graph.mutable_node() = google::protobuf::RepeatedPtrField<onnx::NodeProto>(kept.rbegin(), kept.rend());
}

/// Takes a list from which shapes may follow, and zeros, out of the file beside it; weights stay there.
void take_in(onnx::TensorProto& tensor, const std::filesystem::path& folder)
{
    const int type = tensor.data_type();
    const bool is_float = type == onnx::TensorProto::FLOAT;
    const std::size_t size = type == onnx::TensorProto::INT64               ? 8
                             : type == onnx::TensorProto::INT32 || is_float ? 4
                                                                            : 0;
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL || size == 0) return;
    const auto count = static_cast<std::size_t>(count_of({tensor.dims().begin(), tensor.dims().end()}));
    if (count > most_listed) return;
    std::map<std::string, std::string> of;
    for (const auto& entry : tensor.external_data()) of[entry.key()] = entry.value();
    const std::filesystem::path place = folder / std::filesystem::path(of["location"]).filename();
    std::error_code failed;
    if (!std::filesystem::is_regular_file(place, failed)) return;
    std::ifstream in = open_to_read(place);
    std::string values(count * size, '\0');
    in.seekg(std::strtoll(of["offset"].c_str(), nullptr, 10));
    if (!in.read(values.data(), std::ssize(values))) return;
    if (!is_float || count <= most_floats || values.find_first_not_of('\0') == std::string::npos)
        tensor.set_raw_data(values);
}

}  // namespace

onnx::GraphProto graph_in(const std::filesystem::path& file)
{
    std::ifstream in = open_to_read(file);
    onnx::ModelProto model;
    if (!model.ParseFromIstream(&in) || !model.has_graph()) throw InputError("'" + file.string() + "' is no ONNX file");
    drop_unread(*model.mutable_graph());
    for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) take_in(tensor, file.parent_path());
    return std::move(*model.mutable_graph());
}

std::string places_text(const std::map<std::string, std::vector<std::string>>& places)
{
    constexpr std::size_t most_named = 3;
    std::vector<std::string> all;
    for (auto [operation, named] : places) {
        const std::size_t others = named.size() > most_named ? named.size() - most_named : 0;
        named.resize(named.size() - others);
        all.push_back(operation + " at " + join(named, ", ") +
                      (others > 0 ? " and " + std::to_string(others) + " other places" : ""));
    }
    return join(all, "; ");
}

std::string text(const Numbers& numbers)
{
    std::vector<std::string> words;
    for (const long long number : numbers) words.push_back(std::to_string(number));
    return join(words, "x");
}

int extent_of(long long extent, long long least)
{
    if (extent < least || extent > std::numeric_limits<int>::max())
        throw Refused{"of " + std::to_string(extent) + " values along an axis"};
    return static_cast<int>(extent);
}

Window window_of(const Node& node, const Numbers& kernel)
{
    const Numbers strides = node.numbers("strides", {1, 1});
    const Numbers dilations = node.numbers("dilations", {1, 1});
    const std::string automatic = node.word("auto_pad", "NOTSET");
    const bool is_conv = node.operation() == "Conv";
    if (kernel.size() != 2 || !(all_equal(kernel) || is_conv)) throw Refused{"with a window of " + text(kernel)};
    if (strides.size() != 2 || !(all_equal(strides) || is_conv)) throw Refused{"with strides of " + text(strides)};
    if (dilations.size() != 2 || !all_equal(dilations)) throw Refused{"with dilations of " + text(dilations)};
    const auto check = [](const char* what, const Numbers& numbers, long long least) {
        constexpr long long most = 65'536;
        for (const long long number : numbers)
            if (number < least || number > most) throw Refused{std::string("with ") + what + " of " + text(numbers)};
    };
    check("a window", kernel, 1);
    check("strides", strides, 1);
    check("dilations", dilations, 1);
    const Numbers reach{dilations[0] * (kernel[0] - 1), dilations[0] * (kernel[1] - 1)};
    const bool keeps =
        automatic.starts_with("SAME") && strides == Numbers{1, 1} && reach[0] % 2 == 0 && reach[1] % 2 == 0;
    if (automatic != "NOTSET" && automatic != "VALID" && !keeps) throw Refused{"with auto_pad " + automatic};
    const Numbers half{reach[0] / 2, reach[1] / 2};
    const Numbers pads = keeps ? Numbers{half[0], half[1], half[0], half[1]} : node.numbers("pads", {0, 0, 0, 0});
    if (pads.size() != 4 || pads[0] != pads[2] || pads[1] != pads[3] || !(all_equal(pads) || is_conv))
        throw Refused{"with pads of " + text(pads)};
    check("pads", pads, 0);
    const Window window{extent_of(kernel[0]), extent_of(strides[0]), extent_of(pads[0], 0), extent_of(dilations[0])};
    Window both = window;
    both.width = extent_of(kernel[1]);
    both.stride_across = extent_of(strides[1]);
    both.padding_across = extent_of(pads[1], 0);
    return both.across() == window ? window : both;
}

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
    for (const onnx::TensorProto& tensor : proto.initializer()) {
        put(tensor.name(), tensor);
        held_.insert(tensor.name());
    }
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
    const std::size_t size = raw.size() / static_cast<std::size_t>(std::max(1LL, count_of(made.dims)));
    made.is_even =
        made.numbers ? std::ranges::adjacent_find(*made.numbers, std::not_equal_to{}) == made.numbers->end()
                     : size == 0 || std::equal(raw.begin() + static_cast<std::ptrdiff_t>(size), raw.end(), raw.begin());
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
