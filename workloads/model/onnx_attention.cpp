#include "workloads/model/onnx_attention.hpp"

#include <cmath>

namespace roof::model::onnx_file {
namespace {

/// Of heads in the order of the layer's channels: `last` is of channels or positions. The parts are images, heads, and
/// these two.
bool has_heads(const View& view, Part::Of last)
{
    using enum Part::Of;
    if (view.axes.size() < 3) return false;
    const Parts &behind = view.axes.back(), &before = view.axes[view.axes.size() - 2];
    const Parts& of_head = last == channels ? behind : before;
    const Parts& places = last == channels ? before : behind;
    if (of_head.size() != 1 || of_head[0].of != channels || of_head[0].stride != 1) return false;
    if (places.size() != 1 || places[0].of != positions || places[0].stride != 1) return false;
    View rest = view;
    rest.axes.resize(view.axes.size() - 2);
    const Parts others = rest.parts();
    std::size_t seen = 0;  // one image has no part, and one head neither
    if (seen < others.size() && others[seen].of == images) ++seen;
    if (seen < others.size() && others[seen].of == channels && others[seen].stride == of_head[0].extent) ++seen;
    return seen == others.size();
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
    if (!has_heads(left, channels) || !has_heads(right, positions) || left.count(channels) != right.count(channels) ||
        left.count(positions) != right.count(positions))
        throw Refused{"of values in the shapes " + text(left.dims()) + " and " + text(right.dims())};
    scores_[node.output()] = {left, right};
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
    if (operation == "Softmax") {
        node.require_axis(std::ssize(scores.queries.axes) - 1, scores.queries.axes.size(), -1);
        scores.are_shares = true;
    } else if (operation == "Dropout") {
        const auto ratio = other == nullptr ? std::optional(node.real("ratio", 0.5F)) : other->scalar();
        if (ratio.value_or(1) != 0) throw Refused{"within attention"};
    } else if ((operation == "Mul" || (operation == "Div" && index == 0)) && other != nullptr && other->scalar()) {
        scores.factor *= operation == "Mul" ? *other->scalar() : 1 / *other->scalar();
    } else if (operation != "Identity" && operation != "Cast" && !adds_zeros && !hides_nothing) {
        throw Refused{"within attention"};
    }
    scores_[node.output()] = std::move(scores);
    return true;
}

void Attentions::put(const Node& node, const Scores& scores)
{
    using enum Part::Of;
    View values = values_.view(node, 1);
    if (!has_heads(values, channels) || values.count(channels) != scores.queries.count(channels) ||
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
    for (View& view : read) {
        if (!are_one) layers.push_back(values_.whole(view));
    }
    const int source = are_one ? values.layer : graph_.concat(node.name() + ".in", layers);
    values.layer = graph_.attention(node.name(), source, extent_of(all / of_head));
    values.channel = values.position = 0;
    values.factor = 1;
    values_.put(node.output(), values);
}

}  // namespace roof::model::onnx_file
