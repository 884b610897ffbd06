// The rule of each operator: the shape of its results, and what it costs.
#include "workloads/model/onnx_tensors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace roof::model::onnx_file {
namespace {

Result like_first(const Node& node, const Tensors& tensors)
{
    return tensors.dims(node, 0);
}
Result like_second(const Node& node, const Tensors& tensors)
{
    return tensors.dims(node, 1);
}
Result as_told(const Node& /*node*/, const Tensors& /*tensors*/)
{
    return std::nullopt;
}
Result filled(const Node& node, const Tensors& tensors)
{
    return tensors.numbers(node, 0);
}

Result broadcast(const Node& node, const Tensors& tensors)
{
    Numbers made;
    for (int index = 0; index < node.inputs(); ++index) {
        const Numbers& one = tensors.dims(node, index);
        if (one.size() > made.size()) made.insert(made.begin(), one.size() - made.size(), 1);
        for (std::size_t k = 1; k <= one.size(); ++k) {
            long long& extent = made[made.size() - k];
            const long long other = one[one.size() - k];
            if (extent != other && extent != 1 && other != 1)
                fail(node, "joins " + text(tensors.dims(node, 0)) + " and " + text(one));
            extent = extent == 1 ? other : extent;
        }
    }
    return made;
}

Result product_of(const Node& node, const Tensors& tensors)
{
    Numbers a = tensors.dims(node, 0), b = tensors.dims(node, 1);
    if (a.empty() || b.empty()) fail(node, "multiplies a single number");
    const bool row = a.size() == 1, column = b.size() == 1;
    if (row) a.insert(a.begin(), 1);
    if (column) b.push_back(1);
    if (a.back() != b[b.size() - 2]) fail(node, "multiplies " + text(a) + " by " + text(b));
    Numbers made(std::max(a.size(), b.size()) - 2, 1);
    for (const Numbers* const one : {&a, &b})
        for (std::size_t k = 3; k <= one->size(); ++k) {
            long long& extent = made[made.size() + 2 - k];
            extent = std::max(extent, (*one)[one->size() - k]);
        }
    if (!row) made.push_back(a[a.size() - 2]);
    if (!column) made.push_back(b.back());
    return made;
}
Result gemm(const Node& node, const Tensors& tensors)
{
    return Numbers{tensors.dims(node, 0).at(node.number("transA", 0) == 1 ? 1 : 0),
                   tensors.dims(node, 1).at(node.number("transB", 0) == 1 ? 0 : 1)};
}
Result reduced(const Node& node, const Tensors& tensors)
{
    const Numbers& in = tensors.dims(node, 0);
    Numbers axes = node.operation().starts_with("Arg") ? Numbers{node.number("axis", 0)}
                                                       : tensors.numbers(node, 1, "axes").value_or(Numbers{});
    if (node.has(1) && !tensors.at(node, 1).numbers) return std::nullopt;
    if (axes.empty() && node.number("noop_with_empty_axes", 0) == 1) return in;
    std::set<std::size_t> gone;
    for (const long long axis : axes) gone.insert(axis_of(node, axis, in.size()));
    Numbers made;
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
        const bool is_gone = axes.empty() || gone.contains(axis);
        if (!is_gone || node.number("keepdims", 1) == 1) made.push_back(is_gone ? 1 : in[axis]);
    }
    return made;
}
Result concat(const Node& node, const Tensors& tensors)
{
    Numbers made = tensors.dims(node, 0);
    const std::size_t axis = axis_of(node, node.number("axis", 0), made.size());
    for (int index = 1; index < node.inputs(); ++index) made[axis] += tensors.dims(node, index).at(axis);
    return made;
}
Result slice(const Node& node, const Tensors& tensors)
{
    Numbers made = tensors.dims(node, 0);
    const auto starts = tensors.numbers(node, 1, "starts"), ends = tensors.numbers(node, 2, "ends");
    if (!starts || !ends || (node.has(3) && !tensors.at(node, 3).numbers) ||
        (node.has(4) && !tensors.at(node, 4).numbers))
        return std::nullopt;
    Numbers usual(starts->size());
    std::iota(usual.begin(), usual.end(), 0);
    const Numbers axes = tensors.numbers(node, 3, "axes").value_or(usual),
                  steps = tensors.numbers(node, 4, "steps").value_or(Numbers(usual.size(), 1));
    for (std::size_t k = 0; k < axes.size(); ++k) {
        long long& extent = made[axis_of(node, axes[k], made.size())];
        const bool is_backwards = steps.at(k) <= 0;
        const long long first = bound_of(starts->at(k), extent, is_backwards),
                        last = bound_of(ends->at(k), extent, is_backwards);
        const long long size = std::abs(steps.at(k));
        extent = size == 0 ? 0 : std::max(0LL, ((is_backwards ? first - last : last - first) + size - 1) / size);
    }
    return made;
}
Result gathered(const Node& node, const Tensors& tensors)
{
    const Numbers &in = tensors.dims(node, 0), &places = tensors.dims(node, 1);
    const std::size_t axis = axis_of(node, node.number("axis", 0), in.size());
    Numbers made(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(axis));
    made.insert(made.end(), places.begin(), places.end());
    made.insert(made.end(), in.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in.end());
    return made;
}
Result reshaped(const Node& node, const Tensors& tensors)
{
    auto to = tensors.numbers(node, 1, "shape");
    if (!to) return std::nullopt;
    const Numbers& in = tensors.dims(node, 0);
    for (std::size_t axis = 0; axis < to->size(); ++axis)
        if (to->at(axis) == 0 && node.number("allowzero", 0) == 0 && axis < in.size()) to->at(axis) = in[axis];
    const auto rest = std::ranges::find(*to, -1);
    const long long all = count_of(in);
    if (rest != to->end()) {
        *rest = 1;
        *rest = all / std::max(1LL, count_of(*to));
    }
    if (count_of(*to) != all) fail(node, "makes " + text(*to) + " of " + text(in));
    return to;
}
Result flattened(const Node& node, const Tensors& tensors)
{
    const Numbers& in = tensors.dims(node, 0);
    const long long given = node.number("axis", 1);
    const auto axis = static_cast<std::size_t>(given < 0 ? given + static_cast<long long>(in.size()) : given);
    return Numbers{count_of(in, 0, axis), count_of(in, axis)};
}
Result squeezed(const Node& node, const Tensors& tensors)
{
    const Numbers& in = tensors.dims(node, 0);
    const auto axes = tensors.numbers(node, 1, "axes");
    std::set<std::size_t> gone;
    for (const long long axis : axes.value_or(Numbers{})) gone.insert(axis_of(node, axis, in.size()));
    Numbers made;
    for (std::size_t axis = 0; axis < in.size(); ++axis)
        if (axes ? !gone.contains(axis) : in[axis] != 1) made.push_back(in[axis]);
    return made;
}
Result unsqueezed(const Node& node, const Tensors& tensors)
{
    const auto axes = tensors.numbers(node, 1, "axes");
    if (!axes) return std::nullopt;
    Numbers made = tensors.dims(node, 0);
    std::set<std::size_t> places;
    for (const long long axis : *axes) places.insert(axis_of(node, axis, made.size() + axes->size()));
    for (const std::size_t place : places) {
        if (place > made.size()) fail(node, "has no axis " + std::to_string(place));
        made.insert(made.begin() + static_cast<std::ptrdiff_t>(place), 1);
    }
    return made;
}
Result transposed(const Node& node, const Tensors& tensors)
{
    const Numbers& in = tensors.dims(node, 0);
    Numbers usual(in.size());
    std::iota(usual.rbegin(), usual.rend(), 0);
    Numbers made;
    for (const long long axis : node.numbers("perm", usual)) made.push_back(in.at(axis_of(node, axis, in.size())));
    return made;
}
Result padded(const Node& node, const Tensors& tensors)
{
    Numbers made = tensors.dims(node, 0);
    const auto pads = tensors.numbers(node, 1, "pads");
    if (!pads || (node.has(3) && !tensors.at(node, 3).numbers)) return std::nullopt;
    Numbers usual(made.size());
    std::iota(usual.begin(), usual.end(), 0);
    const Numbers axes = tensors.numbers(node, 3).value_or(usual);
    for (std::size_t k = 0; k < axes.size(); ++k)
        made[axis_of(node, axes[k], made.size())] += pads->at(k) + pads->at(k + axes.size());
    return made;
}
Result expanded(const Node& node, const Tensors& tensors)
{
    const auto to = tensors.numbers(node, 1);
    if (!to) return std::nullopt;
    Numbers made = *to;
    const Numbers& in = tensors.dims(node, 0);
    if (in.size() > made.size()) made.insert(made.begin(), in.size() - made.size(), 1);
    for (std::size_t k = 1; k <= in.size(); ++k)
        made[made.size() - k] = std::max(made[made.size() - k], in[in.size() - k]);
    return made;
}
Result tiled(const Node& node, const Tensors& tensors)
{
    const auto times = tensors.numbers(node, 1);
    if (!times) return std::nullopt;
    Numbers made = tensors.dims(node, 0);
    for (std::size_t axis = 0; axis < made.size(); ++axis) made[axis] *= times->at(axis);
    return made;
}
Result depth_to_space(const Node& node, const Tensors& tensors)
{
    const long long block = node.number("blocksize", 1);
    if (block < 1 || block > 1 << 15) fail(node, "has blocks of " + std::to_string(block));
    Numbers made = tensors.dims(node, 0);
    const bool widens = node.operation() == "DepthToSpace";
    long long& channels = made.at(1);
    channels = widens ? channels / (block * block) : channels * block * block;
    for (const std::size_t axis : {2, 3}) made.at(axis) = widens ? made.at(axis) * block : made.at(axis) / block;
    return made;
}
/// By the extents that it may be given, or by the scales, which older versions have in the second place.
Result resized(const Node& node, const Tensors& tensors)
{
    if (node.has(3)) return tensors.numbers(node, 3);
    const Tensor* const scales = tensors.find(node, node.inputs() > 2 ? 2 : 1);
    Numbers made = tensors.dims(node, 0);
    if (scales == nullptr || !scales->numbers || scales->numbers->size() != made.size()) return std::nullopt;
    for (std::size_t axis = 0; axis < made.size(); ++axis)
        made[axis] = static_cast<long long>(std::floor(static_cast<double>(made[axis]) * scales->numbers->at(axis)));
    return made;
}
Result recurrent(const Node& node, const Tensors& tensors)
{
    const Numbers &in = tensors.dims(node, 0), &weights = tensors.dims(node, 2);
    return Numbers{in.at(0), weights.at(0), in.at(1), weights.at(2)};
}
/// Of the last state, and of an LSTM's last cell.
Result last_state(const Node& node, const Tensors& tensors)
{
    const Numbers &in = tensors.dims(node, 0), &weights = tensors.dims(node, 2);
    return Numbers{weights.at(0), in.at(1), weights.at(2)};
}
Result attended(const Node& node, const Tensors& tensors)
{
    const auto [batch, heads, queries, keys, width, width_of_values] = attention_of(node, tensors);
    if (tensors.dims(node, 0).size() == 4) return Numbers{batch, heads, queries, width_of_values};
    return Numbers{batch, queries, heads * width_of_values};
}

Result einsum(const Node& node, const Tensors& tensors)
{
    const auto letters = letters_of(node, tensors);
    if (!letters) return std::nullopt;
    Numbers made;
    for (const char letter : letters->result) made.push_back(letters->extents.at(letter));
    return made;
}

Result part_of(const Node& node, int output, const Tensors& tensors)
{
    Numbers made = tensors.dims(node, 0);
    long long& extent = made[axis_of(node, node.number("axis", 0), made.size())];
    const auto sizes = tensors.numbers(node, 1, "split");
    if (sizes) {
        extent = sizes->at(static_cast<std::size_t>(output));
        return made;
    }
    if (node.has(1)) return std::nullopt;
    const long long parts = node.outputs(), each = (extent + parts - 1) / parts;
    extent = output + 1 < parts ? each : extent - each * (parts - 1);
    return made;
}

struct Rule {
    Result (*shape)(const Node&, const Tensors&);
    Cost cost;
};

const std::map<std::string, Rule>& rules()
{
    static const std::map<std::string, Rule> all = [] {
        std::map<std::string, Rule> made;
        const auto add = [&](auto shape, Cost cost, const std::string& operations) {
            std::istringstream words(operations);
            for (std::string word; words >> word;) made[word] = {shape, cost};
        };
        add(like_first, Cost::values,
            "Abs Ceil Celu Clip Cos CumSum Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish IsInf IsNaN LeakyRelu "
            "Log Mish Neg Not "
            "Reciprocal Relu Round Selu Sigmoid Sign Sin Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Trilu");
        add(like_first, Cost::norm,
            "BatchNormalization GroupNormalization InstanceNormalization LayerNormalization LpNormalization LRN "
            "LogSoftmax "
            "MeanVarianceNormalization RMSNormalization Softmax");
        add(broadcast, Cost::values,
            "Add And BitwiseAnd BitwiseOr Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or "
            "PRelu Pow Sub Sum Xor");
        add(broadcast, Cost::moves, "Where");
        add(like_first, Cost::moves, "Cast CastLike ScatterElements ScatterND");
        add(like_first, Cost::view, "Identity");
        add(reduced, Cost::sums,
            "ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
            "ReduceSum ReduceSumSquare");
        add(pool, Cost::sums, "AveragePool LpPool MaxPool");
        add(global_pool, Cost::sums, "GlobalAveragePool GlobalLpPool GlobalMaxPool");
        add(concat, Cost::moves, "Concat");
        add(depth_to_space, Cost::moves, "DepthToSpace SpaceToDepth");
        add(expanded, Cost::moves, "Expand");
        add(filled, Cost::moves, "ConstantOfShape");
        add(as_told, Cost::moves, "Range Shape Size");
        add(gathered, Cost::moves, "Gather");
        add(like_second, Cost::moves, "GatherElements");
        add(padded, Cost::moves, "Pad");
        add(resized, Cost::moves, "Resize Upsample");
        add(slice, Cost::moves, "Slice");
        add(as_told, Cost::moves, "Split");
        add(tiled, Cost::moves, "Tile");
        add(transposed, Cost::moves, "Transpose");
        add(flattened, Cost::view, "Flatten");
        add(reshaped, Cost::view, "Reshape");
        add(squeezed, Cost::view, "Squeeze");
        add(unsqueezed, Cost::view, "Unsqueeze");
        add(attended, Cost::product, "Attention");
        add(convolution, Cost::product, "Conv");
        add(transposed_convolution, Cost::product, "ConvTranspose");
        add(einsum, Cost::product, "Einsum");
        add(recurrent, Cost::product, "GRU LSTM RNN");
        add(gemm, Cost::product, "Gemm");
        add(product_of, Cost::product, "MatMul");
        return made;
    }();
    return all;
}

}  // namespace

std::optional<Cost> cost_of(const std::string& operation)
{
    const auto found = rules().find(operation);
    return found == rules().end() ? std::nullopt : std::optional(found->second.cost);
}

Result shape_of(const Node& node, int output, const Tensors& tensors)
{
    Result made;
    const auto found = rules().find(node.operation());
    if (node.operation() == "Split")
        made = part_of(node, output, tensors);
    else if (output == 0 && found != rules().end())
        made = found->second.shape(node, tensors);
    else if (node.attribute("hidden_size") != nullptr)
        made = last_state(node, tensors);
    return made ? made : tensors.told(node.output(output));
}

AttentionShape attention_of(const Node& node, const Tensors& tensors)
{
    const Numbers &q = tensors.dims(node, 0), &k = tensors.dims(node, 1), &v = tensors.dims(node, 2);
    const long long past = tensors.find(node, 4) != nullptr ? tensors.dims(node, 4).at(2) : 0;
    if (q.size() == 4) return {q[0], q[1], q[2], k.at(2) + past, q[3], v.at(3)};
    const long long heads = node.number("q_num_heads", 1), of_values = node.number("kv_num_heads", heads);
    if (q.size() != 3 || heads < 1 || of_values < 1) fail(node, "reads " + text(q));
    return {q[0], heads, q[1], k.at(1) + past, q[2] / heads, v.at(2) / of_values};
}

std::optional<Letters> letters_of(const Node& node, const Tensors& tensors)
{
    std::string equation = node.word("equation", "");
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    if (arrow == equation.npos || equation.find('.') != equation.npos) return std::nullopt;
    Letters made{.extents = {}, .result = equation.substr(arrow + 2)};
    int index = 0;
    std::size_t axis = 0;
    for (const char letter : equation.substr(0, arrow)) {
        if (letter == ',') {
            ++index;
            axis = 0;
            continue;
        }
        long long& extent = made.extents[letter];
        extent = std::max(extent, tensors.dims(node, index).at(axis++));
    }
    return made;
}

}  // namespace roof::model::onnx_file
