#include "workloads/model/onnx_gelu.hpp"

#include <array>
#include <string_view>

namespace roof::model::onnx_file {
namespace {

struct Operator {
    std::string_view name;
    float constant;  ///< its other input; 0: x, or none
};
constexpr std::array<Operator, 5> operators{{{"Div", 1.41421356F}, {"Erf", 0}, {"Add", 1}, {"Mul", 0}, {"Mul", 0.5F}}};

}  // namespace

std::optional<std::optional<View>> Gelus::take(const Node& node, Values& values)
{
    for (int index = 0; index < 2 && node.has(index); ++index) {
        const auto found = begun_.find(node.input(index));
        const auto [taken, source, view, is_halved] =
            found == begun_.end() ? Begun{0, node.input(index)} : found->second;
        const Operator& next = operators[taken];
        if (node.operation() != next.name || (taken == 0 && index == 1)) continue;
        const int other = 1 - index;
        const Tensor* const by = values.constant(node, other);
        const float constant = by == nullptr ? 0 : by->scalar().value_or(0);
        const bool halves = taken == 3 && constant == operators.back().constant;  // the last two, in either order
        const float wanted = halves ? constant : is_halved ? 0 : next.constant;
        if (wanted == 0 ? node.has(other) && node.input(other) != source : constant != wanted) continue;
        if (taken + 1 == operators.size()) return view;
        const onnx::NodeProto* const reader = values.only_reader(node);
        if (reader == nullptr || Node::operation_of(*reader) != operators[taken + 1].name) continue;
        begun_[node.output()] = {taken + 1, source, taken == 0 ? values.view(node) : view, halves};
        return std::optional<View>{};
    }
    return std::nullopt;
}

}  // namespace roof::model::onnx_file
