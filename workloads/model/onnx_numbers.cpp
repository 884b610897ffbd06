// What exporters compute from shapes, on small lists.
#include "workloads/model/onnx_tensors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace roof::model::onnx_file {
namespace {

/// Value by value; lists of one value are repeated.
std::optional<Reals> joined(const std::vector<Reals>& lists, const std::function<double(const Reals&)>& function)
{
    std::size_t most = 0;
    for (const Reals& list : lists) most = std::max(most, list.size());
    Reals made;
    for (std::size_t k = 0; k < most; ++k) {
        Reals at;
        for (const Reals& list : lists) {
            if (list.empty() || (list.size() != 1 && list.size() != most)) return std::nullopt;
            at.push_back(list[list.size() == 1 ? 0 : k]);
        }
        made.push_back(function(at));
    }
    return made;
}

/// Slices of the first axis of a list, or of a list of rows. `lists`: the inputs of Slice.
std::optional<Reals> rows_of(const Node& node, const std::vector<Reals>& lists, const Numbers& dims)
{
    const bool is_first = lists.size() < 4 || lists[3].empty() || lists[3] == Reals{0};
    if (dims.empty() || !is_first || lists.size() < 3 || lists[1].size() != 1 || lists[2].size() != 1)
        return std::nullopt;
    const long long rows = dims[0], width = count_of(dims, 1);
    const long long step = lists.size() > 4 && !lists[4].empty() ? whole(lists[4])[0] : 1;
    if (step == 0) fail(node, "has steps of 0");
    if (static_cast<long long>(lists[0].size()) != rows * width) return std::nullopt;
    const auto bound = [&](const Reals& list) { return bound_of(whole(list)[0], rows, step < 0); };
    Reals made;
    for (long long row = bound(lists[1]), end = bound(lists[2]); step > 0 ? row < end : row > end; row += step)
        made.insert(made.end(), lists[0].begin() + row * width, lists[0].begin() + (row + 1) * width);
    return made;
}

/// Of each value alone; nothing for another operator.
std::optional<Reals> changed(const Node& node, const std::vector<Reals>& lists)
{
    const std::string& operation = node.operation();
    Reals made = lists.front();
    const auto limit = [&](std::size_t input, const std::string& attribute, float none) {
        const bool is_given = input < lists.size() && !lists[input].empty();
        return is_given ? lists[input][0] : static_cast<double>(node.real(attribute, none));
    };
    const bool cuts = operation == "Cast" && !is_float(static_cast<int>(node.number("to", onnx::TensorProto::FLOAT)));
    constexpr float farthest = std::numeric_limits<float>::max();
    for (double& value : made) {
        if (operation == "Cast")
            value = cuts ? std::trunc(value) : value;
        else if (operation == "Ceil")
            value = std::ceil(value);
        else if (operation == "Floor")
            value = std::floor(value);
        else if (operation == "Sqrt")
            value = std::sqrt(value);
        else if (operation == "Neg")
            value = -value;
        else if (operation == "Clip")
            value = std::min(std::max(value, limit(1, "min", -farthest)), limit(2, "max", farthest));
        else if (cost_of(operation) != Cost::view)
            return std::nullopt;
    }
    return made;
}

}  // namespace

std::optional<Reals> numbers_of(const Node& node, const Tensors& tensors)
{
    const std::string& operation = node.operation();
    if (operation == "Shape") {
        const Numbers& in = tensors.dims(node, 0);
        const auto size = static_cast<long long>(in.size());
        const long long first = bound_of(node.number("start", 0), size),
                        last = bound_of(node.number("end", size), size);
        return Reals(in.begin() + first, in.begin() + std::max(first, last));
    }
    if (operation == "Size") return Reals{static_cast<double>(count_of(tensors.dims(node, 0)))};
    std::vector<Reals> lists;
    if (!tensors.can_compute(static_cast<std::size_t>(node.inputs()))) return std::nullopt;
    for (int index = 0; index < node.inputs(); ++index) {
        const Tensor* const given = tensors.find(node, index);
        if (node.has(index) && (given == nullptr || !given->numbers)) return std::nullopt;
        if (given != nullptr && !tensors.can_compute(given->numbers->size())) return std::nullopt;
        lists.push_back(given == nullptr ? Reals{} : *given->numbers);
    }
    if (lists.empty()) return std::nullopt;
    const Reals& first = lists.front();
    if (auto made = changed(node, lists)) return made;
    if (operation == "Concat") {
        Reals made;
        for (const Reals& list : lists) made.insert(made.end(), list.begin(), list.end());
        return made;
    }
    if (operation == "Gather" && tensors.dims(node, 0).size() == 1) {
        Reals made;
        for (const long long place : whole(lists.at(1))) made.push_back(first[axis_of(node, place, first.size())]);
        return made;
    }
    if (operation == "Slice") return rows_of(node, lists, tensors.dims(node, 0));
    if (operation == "Transpose" && tensors.dims(node, 0).size() == 2 &&
        node.numbers("perm", {1, 0}) == Numbers{1, 0}) {
        const auto columns = static_cast<std::size_t>(tensors.dims(node, 0)[1]);
        Reals made;
        for (std::size_t column = 0; column < columns; ++column)
            for (std::size_t at = column; at < first.size(); at += columns) made.push_back(first[at]);
        return made;
    }
    if (operation == "Expand" || operation == "ConstantOfShape") {
        const long long count = count_of(whole(lists.back()));
        if (count > 1024 || (operation == "Expand" && first.size() != 1)) return std::nullopt;
        const onnx::AttributeProto* const fill = node.attribute("value");
        const double other = fill == nullptr ? 0 : numbers_in(fill->t(), 1).value_or(Reals{0})[0];
        return Reals(static_cast<std::size_t>(count), operation == "Expand" ? first[0] : other);
    }
    if (operation == "Range" && lists.size() == 3 && lists[2].at(0) != 0) {
        constexpr std::size_t most_of_range = 65536;
        constexpr double most = most_of_range;
        const double from = lists[0].at(0), steps = std::ceil((lists[1].at(0) - from) / lists[2][0]);
        if (!(steps <= most) || !tensors.can_compute(most_of_range)) return std::nullopt;
        Reals made;
        for (int k = 0; k < steps; ++k) made.push_back(from + k * lists[2][0]);
        return made;
    }
    if (operation == "ReduceProd") return Reals{static_cast<double>(count_of(whole(first)))};
    if (operation == "Where" && lists.size() == 3)
        return joined(lists, [](const Reals& at) { return at[0] != 0 ? at[1] : at[2]; });
    static const std::map<std::string, double (*)(double, double)> arithmetic{
        {"Add", [](double a, double b) { return a + b; }},
        {"Sub", [](double a, double b) { return a - b; }},
        {"Mul", [](double a, double b) { return a * b; }},
        {"Div", [](double a, double b) { return b == 0 ? 0 : a / b; }},
        {"Mod", [](double a, double b) { return b == 0 ? 0 : std::fmod(a, b); }},
        {"Max", [](double a, double b) { return std::max(a, b); }},
        {"Min", [](double a, double b) { return std::min(a, b); }},
        {"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }}};
    const auto function = arithmetic.find(operation);
    if (function == arithmetic.end() || lists.size() != 2) return std::nullopt;
    const bool is_whole = operation == "Div" && !tensors.at(node, 0).is_float;
    return joined(lists, [&](const Reals& both) {
        const double made = function->second(both[0], both[1]);
        return is_whole ? std::trunc(made) : made;
    });
}

bool gives_floats(const Node& node, const Tensors& tensors)
{
    static const std::set<std::string> integers{"And",   "ArgMax", "ArgMin", "Equal", "Greater", "GreaterOrEqual",
                                                "IsInf", "IsNaN",  "Less",   "Not",   "NonZero", "LessOrEqual",
                                                "Or",    "Range",  "Shape",  "Size",  "Xor"};
    const std::string& operation = node.operation();
    if (integers.contains(operation)) return false;
    if (operation == "Cast") return is_float(static_cast<int>(node.number("to", onnx::TensorProto::FLOAT)));
    if (operation == "ConstantOfShape") {
        const onnx::AttributeProto* const fill = node.attribute("value");
        return fill == nullptr || is_float(fill->t().data_type());
    }
    const Tensor* const decides = tensors.find(node, operation == "Where" ? 1 : 0);
    return decides == nullptr || decides->is_float;
}

}  // namespace roof::model::onnx_file
