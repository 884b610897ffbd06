#include "workloads/model/onnx_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace roof::model::onnx_file {

namespace {

/// Of heads in the order of the layer's channels: `last` is of channels or positions. The parts are images, their
/// windows, heads, and these two. Returns the number of windows, or 0 for another view.
long long windows_of(const View& view, Part::Of last)
{
    using enum Part::Of;
    if (view.axes.size() < 3 || !view.order.empty()) return 0;
    const Parts &behind = view.axes.back(), &before = view.axes[view.axes.size() - 2];
    const Parts& of_head = last == channels ? behind : before;
    const Parts& places = last == channels ? before : behind;
    if (of_head.size() != 1 || of_head[0].of != channels || of_head[0].stride != 1) return 0;
    if (places.size() != 1 || places[0].of != positions || places[0].stride != 1) return 0;
    View rest = view;
    rest.axes.resize(view.axes.size() - 2);
    const Parts others = rest.parts();
    std::size_t seen = 0;  // one image has no part, and one head neither
    long long windows = 1;
    if (seen < others.size() && others[seen].of == images) ++seen;
    if (seen < others.size() && others[seen].of == positions && others[seen].stride == places[0].extent)
        windows = others[seen++].extent;
    if (seen < others.size() && others[seen].of == channels && others[seen].stride == of_head[0].extent) ++seen;
    return seen == others.size() ? windows : 0;
}

}  // namespace

bool Attentions::take(const Node& node)
{
    for (int index = 0; index < node.inputs(); ++index) {
        const auto found = node.has(index) ? scores_.find(node.input(index)) : scores_.end();
        if (found != scores_.end()) return takes_scores(node, index, found->second);
    }
    if (node.operation() != "MatMul" || !values_.is_view(node, 0) || !values_.is_view(node, 1)) return false;
    using enum Part::Of;
    const View &left = values_.view(node, 0), &right = values_.view(node, 1);
    const long long windows = windows_of(left, channels);
    if (windows == 0 || windows_of(right, positions) != windows || left.count(channels) != right.count(channels) ||
        left.count(positions) != right.count(positions))
        throw Refused{"of values in the shapes " + text(left.dims()) + " and " + text(right.dims())};
    Numbers dims = left.dims();
    dims.back() = right.dims().back();
    scores_[node.output()] = {.queries = left, .keys = right, .dims = dims, .windows = windows};
    return true;
}

bool Attentions::takes_scores(const Node& node, int index, Scores scores)
{
    const std::string& operation = node.operation();
    const Tensor* const other = index < 2 ? values_.constant(node, 1 - index) : nullptr;
    const bool adds_zeros = operation == "Add" && other != nullptr && other->is_zero;  // a mask that hides nothing
    const bool hides_nothing = operation == "Where" && nowhere_.contains(node.input(0));
    if (operation == "IsNaN" && scores.are_shares) {
        nowhere_.insert(node.output());  // of a row that a mask hides whole
        return true;
    }
    if (operation == "MatMul" && index == 0 && scores.are_shares && values_.is_view(node, 1)) {
        put(node, scores);
        return true;
    }
    if (operation == "Reshape") {
        const Tensor* const to = values_.constant(node, 1);
        const Numbers dims = to == nullptr ? Numbers{} : reshaped(scores.dims, to->values());
        if (dims.size() < 2 || !std::equal(dims.rbegin(), dims.rbegin() + 2, scores.dims.rbegin()))
            throw Refused{"within attention"};
        scores.dims = dims;
    } else if (operation == "Add" && other != nullptr && !other->is_zero) {
        add(*other, scores);
    } else if (operation == "Softmax") {
        node.require_axis(std::ssize(scores.queries.axes) - 1, scores.queries.axes.size(), -1);
        scores.are_shares = true;
    } else if (operation == "Dropout") {
        const auto ratio = other == nullptr ? std::optional(node.real("ratio", 0.5F)) : other->scalar();
        if (ratio.value_or(1) != 0) throw Refused{"within attention"};
    } else if ((operation == "Mul" || (operation == "Div" && index == 0)) && other != nullptr && other->scalar()) {
        if (scores.rows > 0 || !scores.hidden.empty()) throw Refused{"within attention"};
        scores.factor *= operation == "Mul" ? *other->scalar() : 1 / *other->scalar();
    } else if (operation != "Identity" && operation != "Cast" && !adds_zeros && !hides_nothing) {
        throw Refused{"within attention"};
    }
    scores_[node.output()] = std::move(scores);
    return true;
}

/// Rows of a trained table, the same in all windows, or a mask of each window or of all, the same for all heads.
void Attentions::add(const Tensor& constant, Scores& scores)
{
    Numbers dims = constant.dims;
    dims.insert(dims.begin(), std::max<std::size_t>(4, dims.size()) - dims.size(), 1);
    const Numbers of = {dims.end() - 4, dims.end()};  // windows, heads, queries, keys
    const auto before = scores.dims.end() - std::min<std::ptrdiff_t>(4, std::ssize(scores.dims));
    const std::size_t pairs = static_cast<std::size_t>(of[2] * of[3]);
    const bool fits = std::ssize(scores.dims) >= 4 && std::equal(of.begin() + 2, of.end(), before + 2) &&
                      constant.numbers && std::ssize(*constant.numbers) == of[0] * of[1] * of[2] * of[3];
    if (fits && !constant.table.empty() && of[0] == 1 && of[1] == before[1] && of[1] == constant.table[1]) {
        if (scores.rows > 0 || !tables_.insert(constant.origin).second)
            throw Refused{"of a trained table that scores have, which would be trained apart"};
        const auto heads = static_cast<std::size_t>(of[1]);
        scores.rows = extent_of(constant.table[0]);
        for (std::size_t k = 0; k < pairs * heads; ++k) {
            const auto place = static_cast<std::size_t>((*constant.numbers)[k]);
            const int row = static_cast<int>(place / heads);
            if (k < pairs) scores.places.push_back(row);
            if (place % heads != k / pairs || scores.places[k % pairs] != row) throw Refused{"within attention"};
        }
        return;
    }
    // e^-100 of a share is none in fp32.
    const auto is_of_mask = [](double number) { return number == 0 || number <= -100; };
    if (!fits || !constant.table.empty() || !scores.hidden.empty() || of[1] != 1 ||
        (of[0] != 1 && (of[0] != scores.windows || before[0] != of[0])) ||
        !std::ranges::all_of(*constant.numbers, is_of_mask))
        throw Refused{"of other than zeros, a mask of each window and rows of a trained table within attention"};
    for (const double number : *constant.numbers) scores.hidden.push_back(number != 0);
}

void Attentions::put(const Node& node, const Scores& scores)
{
    using enum Part::Of;
    View values = values_.view(node, 1);
    if (windows_of(values, channels) != scores.windows || values.count(channels) != scores.queries.count(channels) ||
        values.count(positions) != scores.queries.count(positions))
        throw Refused{"of values in the shape " + text(values.dims())};
    const long long of_head = values.axes.back().front().extent, all = values.count(channels);
    const double factor = scores.factor * scores.queries.factor * scores.keys.factor * values.factor;
    if (std::abs(factor * std::sqrt(static_cast<double>(of_head)) - 1) > 1e-5)
        throw Refused{"of scores that are not divided by the root of the " + std::to_string(of_head) +
                      " channels of a head"};
    std::vector<View> read{scores.queries, scores.keys, values};
    const Shape& map = graph_.layer(values.layer).output;
    bool are_one = map.channels == 3 * all && values.count(positions) == 1LL * map.height * map.width;
    for (std::size_t k = 0; k < read.size(); ++k) {
        read[k].factor = 1;
        are_one = are_one && read[k].layer == values.layer && read[k].channel == static_cast<long long>(k) * all;
    }
    std::vector<int> layers;
    for (View& view : read)
        if (!are_one) layers.push_back(values_.whole(view));
    const int source = are_one ? values.layer : graph_.concat(node.name() + ".in", layers);
    const int heads = extent_of(all / of_head);
    if (scores.rows > 0) {
        std::vector<int> places;
        for (std::size_t k = 0; k < std::max(scores.hidden.size(), scores.places.size()); ++k)
            places.push_back(!scores.hidden.empty() && scores.hidden[k] ? -1 : scores.places[k % scores.places.size()]);
        values.layer = graph_.attention_with_table(node.name(), source, heads, extent_of(scores.windows), scores.rows,
                                                   std::move(places));
    } else if (scores.windows > 1 || !scores.hidden.empty()) {
        throw Refused{"of scores in windows or behind a mask, without a trained table"};
    } else {
        values.layer = graph_.attention(node.name(), source, heads);
    }
    values.channel = values.position = 0;
    values.factor = 1;
    values_.put(node.output(), values);
}

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
