#include "analysis/recordings/operators.hpp"

#include "ert/base/number.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace roof::analysis {
namespace {

using Dims = std::vector<long long>;
using Result = std::optional<OperatorWork>;

double product(const Dims& dims, std::size_t from = 0)
{
    double all = 1;
    for (std::size_t axis = from; axis < dims.size(); ++axis) all *= static_cast<double>(dims[axis]);
    return all;
}

const Dims& dims_of(const OperatorCall& call, std::size_t input)
{
    static const Dims none;
    return input < call.dims.size() ? call.dims[input] : none;
}

/// "[2, 2]" -> {2, 2}; "3" -> {3}. Empty for other text.
Dims list_in(const OperatorCall& call, std::size_t input)
{
    Dims list;
    std::string word;
    for (const char letter : input < call.values.size() ? call.values[input] + "," : "") {
        if ((letter >= '0' && letter <= '9') || letter == '-') word += letter;
        if (letter != ',' || word.empty()) continue;
        const auto number = parse_number<long long>(word);
        if (!number) return {};
        list.push_back(*number);
        word.clear();
    }
    return list;
}

/// The value of a list for one axis: PyTorch may give one for all.
long long at(const Dims& list, std::size_t axis, long long usual)
{
    return list.empty() ? usual : list[std::min(axis, list.size() - 1)];
}

OperatorWork contraction(std::string kind, const OperatorCall& call, double flops, double values)
{
    return {std::move(kind), Flops{flops}, Bytes{values * call.element_bytes}, Bytes{flops * call.element_bytes}, true};
}

OperatorWork elementwise(std::string kind, const OperatorCall& call, double flops, double values)
{
    const Bytes bytes{values * call.element_bytes};
    return {std::move(kind), Flops{flops}, bytes, bytes, false};
}

/// Positions along an axis that windows of a convolution or a pool give.
double outputs(long long extent, long long window, long long stride, long long padding, long long dilation)
{
    const long long steps = stride < 1 ? -1 : (extent + 2 * padding - dilation * (window - 1) - 1) / stride;
    return static_cast<double>(steps + 1);
}

/// Positions along an axis that windows of a convolution read: none of a rest at its end or between windows.
double read(long long extent, double windows, long long window, long long stride, long long padding, long long dilation)
{
    const auto all = static_cast<double>(extent), size = static_cast<double>(window),
               before = static_cast<double>(padding);
    const double end =
        (windows - 1) * static_cast<double>(stride) - before + static_cast<double>(dilation) * (size - 1) + 1;
    if (stride <= window || dilation != 1) return std::min(all, end);
    return windows * size - std::min(before, size) - std::max(0.0, end - all);
}

double bias(const OperatorCall& call, std::size_t input)
{
    return dims_of(call, input).empty() ? 0 : product(dims_of(call, input));
}

/// Values of the input that windows read, and of the result. `first`: where the strides stand among the inputs.
std::pair<double, double> maps(const OperatorCall& call, const Dims& x, const Dims& w, std::size_t first,
                               bool transposed)
{
    const Dims strides = list_in(call, first), paddings = list_in(call, first + 1),
               dilations = list_in(call, first + 2);
    const Dims rests = list_in(call, first + 4), groups = list_in(call, first + 5);
    double in = product({x[0], x[1]}), out = static_cast<double>(x[0]) * static_cast<double>(w[0]);
    if (transposed) out = static_cast<double>(x[0]) * static_cast<double>(w[1] * at(groups, 0, 1));
    for (std::size_t axis = 2; axis < x.size(); ++axis) {
        const long long stride = at(strides, axis - 2, 1), padding = at(paddings, axis - 2, 0),
                        dilation = at(dilations, axis - 2, 1);
        const double windows = outputs(x[axis], w[axis], stride, padding, dilation);
        in *= transposed ? static_cast<double>(x[axis]) : read(x[axis], windows, w[axis], stride, padding, dilation);
        out *= transposed ? static_cast<double>((x[axis] - 1) * stride - 2 * padding + dilation * (w[axis] - 1) +
                                                at(rests, axis - 2, 0) + 1)
                          : windows;
    }
    return {in, out};
}

Result convolution(const OperatorCall& call)
{
    const Dims& x = dims_of(call, 0);
    const Dims& w = dims_of(call, 1);
    const bool transposed = call.name != "aten::conv2d" && call.values.size() > 6 && call.values[6] == "True";
    if (x.size() < 3 || w.size() != x.size() || list_in(call, 3).empty() || list_in(call, 4).empty()) return {};
    const auto [in, out] = maps(call, x, w, 3, transposed);
    const double flops = 2 * (transposed ? product(x) : out) * product(w, 1);
    return contraction("convolution", call, flops, in + product(w) + bias(call, 2) + out);
}

Result convolution_backward(const OperatorCall& call)
{
    const Dims& y = dims_of(call, 0);
    const Dims& x = dims_of(call, 1);
    const Dims& w = dims_of(call, 2);
    if (y.size() < 3 || x.size() != y.size() || w.size() != y.size() || call.values.size() < 11) return {};
    const bool transposed = call.values[7] == "True";
    const double flops = 2 * product(transposed ? x : y) * product(w, 1);
    const std::string& mask = call.values[10];  // "[True, True, False]": the input, the weights, the bias
    const bool to_input = mask.starts_with("[True");
    const bool to_weights = mask.find(", True,") != mask.npos;
    const double in = maps(call, x, w, 4, transposed).first;
    const double biases = mask.ends_with("True]") ? static_cast<double>(at(list_in(call, 3), 0, 0)) : 0;
    const double values = (to_input ? product(y) + product(w) + product(x) : 0) +
                          (to_weights ? product(y) + in + product(w) + biases : 0);
    return contraction("convolution", call, flops * ((to_input ? 1 : 0) + (to_weights ? 1 : 0)), values);
}

/// x [..., in] by w [out][in].
Result linear(const OperatorCall& call)
{
    const Dims& x = dims_of(call, 0);
    const Dims& w = dims_of(call, 1);
    if (x.empty() || w.size() != 2 || x.back() != w[1] || w[1] == 0) return {};
    const double out = product(x) / static_cast<double>(w[1]) * static_cast<double>(w[0]);
    const double values = product(x) + product(w) + bias(call, 2) + out;
    return contraction("linear", call, 2 * out * static_cast<double>(w[1]), values);
}

/// [..., n, k] by [..., k, m]; batches are broadcast.
Result matrices(const OperatorCall& call, std::size_t left, const std::string& kind)
{
    Dims a = dims_of(call, left);
    Dims b = dims_of(call, left + 1);
    if (a.empty() || b.empty()) return {};
    if (a.size() == 1) a.insert(a.begin(), 1);
    if (b.size() == 1) b.push_back(1);
    if (a.back() != b[b.size() - 2]) return {};
    double batches = 1;
    for (std::size_t axis = 3; axis <= std::max(a.size(), b.size()); ++axis) {  // counted from the end
        const long long left_size = axis <= a.size() ? a[a.size() - axis] : 1;
        const long long right_size = axis <= b.size() ? b[b.size() - axis] : 1;
        batches *= static_cast<double>(std::max(left_size, right_size));
    }
    const double out = batches * static_cast<double>(a[a.size() - 2]) * static_cast<double>(b.back());
    return contraction(kind, call, 2 * out * static_cast<double>(a.back()), product(a) + product(b) + out);
}

Result matrix_product(const OperatorCall& call)
{
    return matrices(call, 0, "matmul");
}

Result added_product(const OperatorCall& call)
{
    Result work = matrices(call, 1, "linear");
    if (work) work->bytes += Bytes{bias(call, 0) * call.element_bytes};
    return work;
}

/// Rows of several groups by a matrix for each group: [rows, k] by [groups, k, n], and other forms.
Result in_groups(const OperatorCall& call)
{
    const Dims& a = dims_of(call, 0);
    const Dims& b = dims_of(call, 1);
    if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) return {};
    const double groups = a.size() == 3 && b.size() == 3 ? static_cast<double>(a[0]) : 1;
    const double out = groups * static_cast<double>(a[a.size() - 2]) * static_cast<double>(b.back());
    return contraction("linear", call, 2 * out * static_cast<double>(a.back()), product(a) + product(b) + out);
}

/// A recurrent layer of a CPU: x [tokens, batch, in] by weights [gates, in], and states by [gates, state]. Two products for each backward.
Result recurrent(const OperatorCall& call)
{
    const Dims& x = dims_of(call, 0);
    const Dims& in = dims_of(call, 1);
    const Dims& state = dims_of(call, 2);
    if (x.size() != 3 || in.size() != 2 || state.size() != 2 || x[2] != in[1]) return {};
    const double rows = product({x[0], x[1]}), weights = product(in) + product(state);
    const double times = call.name.ends_with("_backward") ? 2 : 1;
    return contraction("recurrent", call, 2 * times * rows * weights,
                       times * (product(x) + weights + rows * static_cast<double>(state[1])));
}

Result norm(const OperatorCall& call)
{
    const double values = product(dims_of(call, 0));
    if (dims_of(call, 0).empty()) return {};
    const bool layer = call.name.find("layer_norm") != call.name.npos,
               group = call.name.find("group") != call.name.npos;
    return elementwise(layer ? "layer_norm" : group ? "group_norm" : "batch_norm", call, 8 * values, 2 * values);
}

Result norm_backward(const OperatorCall& call)
{
    const double values = product(dims_of(call, 0));
    if (dims_of(call, 0).empty()) return {};
    const bool layer = call.name.find("layer_norm") != call.name.npos;
    return elementwise(layer ? "layer_norm" : "batch_norm", call, 11 * values, 3 * values);
}

/// Max and average pools in two dimensions; the former counts compares, the latter additions.
Result pool(const OperatorCall& call)
{
    const Dims& x = dims_of(call, 0);
    const Dims window = list_in(call, 1), strides = list_in(call, 2), paddings = list_in(call, 3);
    if (x.size() < 3 || window.empty()) return {};
    double out = product({x.begin(), x.end() - 2});
    double taps = 1;
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const long long size = at(window, axis, 1);
        out *= outputs(x[x.size() - 2 + axis], size, at(strides, axis, size), at(paddings, axis, 0), 1);
        taps *= static_cast<double>(size);
    }
    if (call.name.find("max_pool") != call.name.npos)
        return elementwise("max_pool", call, (taps - 1) * out, product(x) + out);
    return elementwise("average_pool", call, product(x), product(x) + out);
}

/// The gradient and the map that was pooled.
Result pool_backward(const OperatorCall& call)
{
    const double given = product(dims_of(call, 0)), to = product(dims_of(call, 1));
    if (dims_of(call, 0).empty() || dims_of(call, 1).empty()) return {};
    const bool is_max = call.name.find("max_pool") != call.name.npos;
    return elementwise(is_max ? "max_pool" : "average_pool", call, is_max ? given : to, given + to);
}

Result whole_pool(const OperatorCall& call)
{
    const Dims& x = dims_of(call, 0);
    if (x.size() < 3) return {};
    return elementwise("average_pool", call, product(x), product(x) + product({x.begin(), x.end() - 2}));
}

/// The inputs of a kernel of attention: the queries, before keys and values, a mask of values, and whether the mask is causal.
struct Attention {
    std::string_view operation;
    std::size_t queries, mask, is_causal;
};

constexpr std::size_t none = -1;
constexpr std::array attentions{Attention{"flash_attention_for_cpu", 0, 5, 4},
                                Attention{"flash_attention_for_cpu_backward", 1, 8, 7},
                                Attention{"flash_attention", 0, none, 4},
                                Attention{"flash_attention_backward", 1, none, 11},
                                Attention{"efficient_attention", 0, 3, 6},
                                Attention{"efficient_attention_backward", 1, 4, 11},
                                Attention{"cudnn_attention", 0, 3, 6},
                                Attention{"cudnn_attention_backward", 1, 8, 14},
                                Attention{"fused_attention_overrideable", 0, 3, 5},
                                Attention{"fused_attention_overrideable_backward", 1, 4, 13}};

const Attention* attention_of(std::string_view name)
{
    constexpr std::string_view before = "aten::_scaled_dot_product_";
    if (!name.starts_with(before)) return nullptr;
    const auto found = std::ranges::find(attentions, name.substr(before.size()), &Attention::operation);
    return found == attentions.end() ? nullptr : &*found;
}

/// Of queries, keys and values [..., tokens, width]: two products, scores and values. Backward has five: the scores again, and the
/// gradients of scores, values, queries and keys. A causal mask leaves to query i the keys up to i.
Result attention(const OperatorCall& call, const Attention& inputs)
{
    const Dims& q = dims_of(call, inputs.queries);
    const Dims& k = dims_of(call, inputs.queries + 1);
    const Dims& v = dims_of(call, inputs.queries + 2);
    if (q.size() < 3 || k.size() != q.size() || v.size() != q.size()) return {};
    const double queries = static_cast<double>(q[q.size() - 2]), keys = static_cast<double>(k[k.size() - 2]);
    const bool is_backward = inputs.queries == 1;
    const double per_pair = 2 * (static_cast<double>(q.back()) * (is_backward ? 3 : 1) +
                                 static_cast<double>(v.back()) * (is_backward ? 2 : 1));
    const double heads = product({q.begin(), q.end() - 2});
    const double values = product(q) + product(k) + product(v) + heads * queries * static_cast<double>(v.back());
    OperatorWork work =
        contraction("attention", call, per_pair * heads * queries * keys, (is_backward ? 2 : 1) * values);
    const std::string causal = inputs.is_causal < call.values.size() ? call.values[inputs.is_causal] : "";
    work.mask_is_unknown = !dims_of(call, inputs.mask).empty() || (causal != "True" && causal != "False");
    const double both = std::min(queries, keys);
    const double kept = both * (both + 1) / 2 + (queries - both) * keys;
    if (causal == "True") work.masked = Flops{per_pair * heads * (queries * keys - kept)};
    return work;
}

using Function = Result (*)(const OperatorCall&);

const std::map<std::string_view, Function>& formulas()
{
    static const std::map<std::string_view, Function> all{
        {"aten::conv1d", convolution},
        {"aten::conv2d", convolution},
        {"aten::conv3d", convolution},
        {"aten::convolution", convolution},
        {"aten::_convolution", convolution},
        {"aten::convolution_backward", convolution_backward},
        {"aten::linear", linear},
        {"aten::mm", matrix_product},
        {"aten::bmm", matrix_product},
        {"aten::matmul", matrix_product},
        {"aten::addmm", added_product},
        {"aten::baddbmm", added_product},
        {"aten::mv", matrix_product},
        {"aten::addmv", added_product},
        {"aten::_int_mm", matrix_product},
        {"aten::_scaled_mm", matrix_product},
        {"aten::_grouped_mm", in_groups},
        {"aten::mkldnn_rnn_layer", recurrent},
        {"aten::mkldnn_rnn_layer_backward", recurrent},
        {"aten::batch_norm", norm},
        {"aten::native_batch_norm", norm},
        {"aten::cudnn_batch_norm", norm},
        {"aten::layer_norm", norm},
        {"aten::native_layer_norm", norm},
        {"aten::group_norm", norm},
        {"aten::native_batch_norm_backward", norm_backward},
        {"aten::cudnn_batch_norm_backward", norm_backward},
        {"aten::native_layer_norm_backward", norm_backward},
        {"aten::max_pool2d", pool},
        {"aten::max_pool2d_with_indices", pool},
        {"aten::max_pool2d_with_indices_backward", pool_backward},
        {"aten::avg_pool2d", pool},
        {"aten::avg_pool2d_backward", pool_backward},
        {"aten::adaptive_avg_pool2d", whole_pool},
        {"aten::_adaptive_avg_pool2d_backward", pool_backward},
    };
    return all;
}

}  // namespace

std::optional<OperatorWork> work_of(const OperatorCall& call)
{
    static const std::set<std::string_view> unknown{"aten::_cudnn_rnn", "aten::_cudnn_rnn_backward",
                                                    "aten::miopen_rnn", "aten::miopen_rnn_backward",
                                                    "aten::conv_tbc",   "aten::_scaled_grouped_mm"};
    if (unknown.contains(call.name))
        return OperatorWork{.kind = "recurrent", .is_contraction = true, .is_unknown = true};
    const auto found = formulas().find(call.name);
    const Attention* const attends = attention_of(call.name);
    if (found == formulas().end() && attends == nullptr) return {};
    for (const Dims& dims : call.dims) {
        if (std::ranges::any_of(dims, [](long long extent) { return extent < 0 || extent > 1LL << 40; })) return {};
    }
    Result work = attends != nullptr ? attention(call, *attends) : found->second(call);
    if (work && (work->flops.value < 0 || work->bytes.value < 0)) return {};
    return work;
}

}  // namespace roof::analysis
