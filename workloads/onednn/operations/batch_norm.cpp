// Batch norm in training mode and the ReLU behind it:  y = g * (x - m) / sqrt(v + eps) + b, where m and v are a
// channel's mean and (biased) variance over the batch or over the batches of all ranks. A sum with its ReLU is computed
// with the batch norms before it (two if the shortcut has one). Training also updates the running statistics, which it
// does not read:
//   running = 0.9 * running + 0.1 * {m, v * n / (n - 1)}, n values per channel
#include "workloads/onednn/operations/batch_norm_passes.hpp"

#include "workloads/onednn/operations/binding.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <array>

namespace roof::onednn {

namespace {

Tensor resident(Binding& to, const ir::Tensor& tensor, const Desc& layout)
{
    to.set(tensor, to.program.resident(layout));
    return to.read(tensor);
}

bool is_sum(const NormSum& sum)
{
    return sum.addend || sum.norms.size() == 2;
}

std::string implementation(const NormSum& sum)
{
    return std::string("roof:batch_norm") + (is_sum(sum) ? "+sum" : "") + (sum.relu ? "+relu" : "") + ":" +
           sum.norms.front().map.loops->name;
}

std::vector<Tensor> tensors_of(const NormSum& sum)
{
    std::vector<Tensor> all;
    for (const Norm& norm : sum.norms)
        all.insert(all.end(), {norm.source, norm.factors, norm.scale.value, norm.shift.value});
    all.push_back(sum.addend);
    return all;
}

}  // namespace

void bind(Binding& to, const ir::Statistics& operation)
{
    const Dims channels{operation.source.channels};
    const Tensor given = to.read(operation.source);
    Norm norm;
    norm.source =
        channel_map(given.desc()) ? given : to.read(operation.source, with_channels_together(plain(operation.source)));
    norm.map = channel_map(norm.source.desc()).value();
    norm.scale = to.train(operation.weight, plain(channels), channels);
    norm.shift = to.train(operation.bias, plain(channels), channels);
    if (to.settings.synchronised_batch_norm) norm.ranks = to.settings.ranks;
    norm.epsilon = operation.epsilon;
    const Dim ranks = norm.ranks == nullptr ? 1 : norm.ranks->size;
    norm.values = static_cast<double>(norm.map.images * norm.map.positions * ranks);
    norm.factors = to.program.tensor(plain(Dims{factor_rows, norm.map.groups() * norm.map.together}));
    norm.running_mean = resident(to, operation.running_mean, plain(channels));
    norm.running_variance = resident(to, operation.running_variance, plain(channels));
    to.norms[operation.channels.scale.block] = norm;
}

/// Without a batch norm: a ReLU, or a sum of two maps.
void bind(Binding& to, const ir::Normalise& operation)
{
    if (!operation.scale) {
        const Tensor left = to.read(operation.source);
        const Tensor right = operation.other ? to.read(operation.other, left.desc()) : Tensor{};
        return append_sum(to.program, to.write(operation.result, left.desc()), left, right,
                          operation.relu ? ReluPass::forward : ReluPass::none);
    }
    NormSum sum{.norms = {to.norms.at(operation.scale.block)}, .relu = operation.relu, .result = {}};
    const Desc layout = sum.norms.front().source.desc();
    if (operation.other_scale) {
        sum.norms.push_back(to.norms.at(operation.other_scale.block));
        sum.norms[1].source = to.read(operation.other, layout);
        sum.norms[1].map = sum.norms[0].map;
    } else if (operation.other) {
        sum.addend = to.read(operation.other, layout);
    }
    sum.result = to.write(operation.result, layout);
    std::vector<Tensor> used = tensors_of(sum);
    used.push_back(sum.result);
    to.program.append([sum] { run_forward(sum); }, used, implementation(sum));
    to.sums[operation.scale.block] = sum;
}

void bind(Binding& to, const ir::ReduceGradient& operation)
{
    if (!operation.source) return bind_bias_gradient(to, operation);
    to.reduction = operation;
}

/// All inputs of a sum share its gradient. The last batch norm's gradient may overwrite it.
void bind(Binding& to, const ir::NormGradient& operation)
{
    const ir::ReduceGradient& reduction = to.reduction;
    const NormSum& sum = to.sums.at(reduction.channels.scale.block);
    NormSumGradient gradient{.first = to.read(reduction.share)};
    if (reduction.other_share) gradient.second = to.read(reduction.other_share);
    const Desc layout = sum.result.desc();
    if (is_sum(sum)) gradient.sum = to.write(reduction.result, layout);
    const bool is_own_first = operation.source.block == reduction.source.block;
    const ir::Tensor& first = is_own_first ? operation.result : operation.other_norm.result;
    const ir::Tensor& second = is_own_first ? operation.other_norm.result : operation.result;
    gradient.to_sources.push_back(to.write(first, layout));
    if (second) gradient.to_sources.push_back(to.write(second, layout));
    std::vector<Tensor> used = tensors_of(sum);
    used.insert(used.end(), {gradient.first, gradient.second, gradient.sum, gradient.sum ? sum.result : Tensor{}});
    used.insert(used.end(), gradient.to_sources.begin(), gradient.to_sources.end());
    to.program.append([=, sum = sum] { run_backward(sum, gradient); }, used, implementation(sum));
}

namespace {

/// Selects the widest supported loops that divide the channels into whole groups, and the group size.
void choose_loops(ChannelMap& map, Dim side_by_side)
{
    constexpr std::array<int, 3> vectors{4, 2, 1};
    for (const NormLoops* loops : norm_loops_here()) {
        for (const int wide : vectors) {
            const int together = wide * loops->lanes;
            if (map.loops != nullptr || side_by_side % together != 0) continue;
            map.loops = loops;
            map.together = together;
        }
    }
}

}  // namespace

Elements ChannelMap::at(const Elements& tensor, Dim of_group, Dim of_image) const
{
    const auto size = static_cast<Dim>(traits(tensor.precision).storage_bytes);
    return {static_cast<std::byte*>(tensor.at) + (of_image * image + of_group * group) * size, tensor.precision};
}

std::optional<Positions> positions_in(const Desc& desc)
{
    const Dims dims = dims_of(desc);
    const auto [strides, blocks, block_dims] = blocking_of(desc);
    const bool is_blocked = !blocks.empty();
    if (strides.size() != 4 || strides[2] != dims[3] * strides[3] ||
        (is_blocked && (blocks.size() != 1 || block_dims.front() != 1)))
        return std::nullopt;
    const Dim lanes = is_blocked ? blocks.front() : strides[1] == 1 ? dims[1] : 1;
    const Dim stored = is_blocked ? ir::up_to_multiple(dims[1], lanes) : dims[1];
    return Positions{dims[0], dims[2] * dims[3], dims[1], strides[0], strides[3], strides[1], lanes, stored};
}

std::optional<ChannelMap> channel_map(const Desc& desc)
{
    const std::optional<Positions> at = positions_in(desc);
    if (!at) return std::nullopt;
    ChannelMap map{.images = at->images,
                   .channels = at->channels,
                   .positions = at->of_image,
                   .image = at->image,
                   .place = at->place};
    choose_loops(map, at->lanes);
    const bool is_blocked = at->group != 1;
    if (map.loops == nullptr || (is_blocked && map.together != at->lanes)) return std::nullopt;
    map.group = is_blocked ? at->group : map.together;
    return map;
}

Desc with_channels_together(const Desc& desc)
{
    return {dims_of(desc), data_type_of(desc), dnnl::memory::format_tag::nChw16c};
}

}  // namespace roof::onednn
