// Batch norm in training mode; m and v are a channel's mean and (biased) variance over the batch:
//   y = g * (x - m) / sqrt(v + eps) + b, then the ReLU;  running = 0.9 * running + 0.1 * {m, v * n / (n - 1)}
//   db = sum of dy;  dg = sum of dy * (x - m) / sqrt(v + eps);  dx follows from both
// Our own kernels support all shapes and precisions: two passes over memory in each direction, fused with the ReLU, its
// gradient and the residual sum. A batch norm that only a residual sum reads is not written: the sum normalises it.
// Others use the library in one operation where trials found that faster, and behind 1x1 convolutions moments of what
// those read (moments.hpp). An executor that wants whole norms gets those of a sum in the sum's stage.
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {
namespace {

NormShape shape_of(const Builder& build, const Unit& unit, bool backward)
{
    return {.backward = backward,
            .batch = build.settings.batch,
            .map = build.layer(unit).output,
            .precision = build.settings.storage(),
            .relu = unit.fused(),
            .epsilon = build.layer(unit).epsilon};
}

Choice choice_of(const Builder& build, const Unit& unit, bool backward)
{
    return build.choosers.norm ? build.choosers.norm(shape_of(build, unit, backward)) : Choice{};
}

/// Appends the running statistics of the unit and returns them.
const Running& running_of(Builder& build, const Unit& unit)
{
    const Tensor channels = build.channels_of(unit.layer);
    return build.running.emplace_back(
        Running{build.layer(unit).name, build.program.resident(channels), build.program.resident(channels)});
}

void normalise_by_library(Builder& build, const Unit& unit, const Tensor& source, const Choice& choice)
{
    const Tensor channels = build.channels_of(unit.layer);
    const Running& running = running_of(build, unit);
    Output& output = build.output(unit.layer);
    output.weight = build.parameters.of(unit.layer, false).value;
    output.channels.mean = build.program.tensor(channels);
    output.channels.inverse_deviation = build.program.tensor(channels);
    const LibraryNorm norm{.shape = shape_of(build, unit, false),
                           .source = source,
                           .weight = output.weight,
                           .bias = build.parameters.of(unit.layer, true).value,
                           .channels = output.channels,
                           .running_mean = running.mean,
                           .running_variance = running.variance,
                           .result = build.program.tensor(build.map(unit.layer)),
                           .workspace = build.program.scratch(choice.workspace),
                           .plan = choice.plan};
    build.program.append(norm, choice.implementation);
    build.put(unit, norm.result);
}

void differentiate_by_library(Builder& build, const Unit& unit, const Tensor& gradient, const Tensor& mask,
                              const Tensor& source, const Choice& choice)
{
    const Output& output = build.output(unit.layer);
    const LibraryNormGradient norm{.shape = shape_of(build, unit, true),
                                   .gradient = gradient,
                                   .output = mask,
                                   .source = source,
                                   .weight = output.weight,
                                   .channels = output.channels,
                                   .sum = build.parameters.of(unit.layer, true).gradient,
                                   .sum_of_products = build.parameters.of(unit.layer, false).gradient,
                                   .result = build.program.tensor(build.map(unit.layer)),
                                   .workspace = build.program.scratch(choice.workspace),
                                   .plan = choice.plan};
    build.program.append(norm, choice.implementation);
    complete(build, unit.layer);
    build.give(build.source(unit), {norm.result});
}

/// The unit's batch norm and the convolution before it.
NormedProduct normed_product_of(const Builder& build, const Unit& unit)
{
    const int convolution = build.source(unit);
    const int source = build.graph.layer(convolution).inputs.front();
    return {.source = build.outputs[static_cast<std::size_t>(source)].tensor,
            .weights = build.parameters.of(convolution, false).read,
            .weight = build.parameters.of(unit.layer, false).value,
            .bias = build.parameters.of(unit.layer, true).value,
            .epsilon = build.layer(unit).epsilon};
}

/// As find_statistics(), from moments of what the convolution before the unit reads.
void find_moments(Builder& build, const Unit& unit)
{
    const Running& running = running_of(build, unit);
    Output& output = build.output(unit.layer);
    NormedProduct both = normed_product_of(build, unit);
    for (Tensor* const one :
         {&both.channels.mean, &both.channels.inverse_deviation, &both.channels.scale, &both.channels.shift})
        *one = build.program.tensor(build.channels_of(unit.layer));
    both.running_mean = running.mean;
    both.running_variance = running.variance;
    output.moments = append_statistics(build.program, build.choosers, both);
    output.channels = both.channels;
    output.weight = both.weight;
}

/// Of both batch norms of a sum, from the gradient that they share.
void both_backward(Builder& build, const Unit& unit, const Tensor& source)
{
    const int partner = build.output(unit.layer).partner;
    build.begin(std::vector{unit.layer, partner}, Phase::backward);
    for (const int each : {unit.layer, partner}) build.add_flops(build.work(each).backward_data.flops);
    const Tensor gradient = build.gradient(unit.layer).tensor;
    spread(build, unit.layer, {.gradient = gradient, .source = source, .result = gradient}, partner);
}

/// Of the batch norm and the convolution before it.
void backward_by_moments(Builder& build, const Unit& unit)
{
    const int convolution = build.source(unit);
    build.begin(std::vector{convolution, unit.layer}, Phase::backward);
    build.add_flops(build.work(unit.layer).backward_data.flops);
    build.add_convolution(to_work(build.work(convolution).backward_weights), "gemm");
    build.add_convolution(to_work(build.work(convolution).backward_data), "gemm");
    const Output& own = build.output(unit.layer);
    const Tensor gradient = build.gradient(unit.layer).tensor;
    if (!own.reduced) reduce(build, unit.layer, {.share = gradient});
    NormedProduct both = normed_product_of(build, unit);
    both.channels = own.channels;
    const Tensor of_source = append_gradients(build.program, build.choosers, both, own.moments,
                                              {.given = gradient,
                                               .sum = build.parameters.of(unit.layer, true).gradient,
                                               .weight = build.parameters.of(unit.layer, false).gradient,
                                               .weights = build.parameters.of(convolution, false).gradient});
    complete(build, unit.layer);
    build.completed(convolution, false);
    build.give(build.graph.layer(convolution).inputs.front(), {of_source});
}

void backward(Builder& build, const Unit& unit, const Tensor& source)
{
    const Output& own = build.output(unit.layer);
    if (own.moments) return backward_by_moments(build, unit);
    if (own.partner > unit.layer) return;  // whose backward pass came first
    if (own.partner >= 0) return both_backward(build, unit, source);
    build.begin_with_work(unit, Phase::backward);
    if (unit.fused()) build.add_flops(build.work(unit.relu).backward_data.flops);
    const Builder::Share given = build.shares(unit.last(), 1).front();
    const Output& read = build.output(unit.last());
    const auto& pool = read.pool;
    if (pool.layer >= 0) build.add_flops(build.work(pool.layer).backward_data.flops);
    const model::Window window = pool.layer < 0 ? model::Window{} : build.graph.layer(pool.layer).window;
    const Tensor mask = unit.fused() ? read.tensor : Tensor{};
    const Choice library = own.reduced || read.scaled ? Choice{} : choice_of(build, unit, true);
    if (library.plan >= 0) return differentiate_by_library(build, unit, given.tensor, mask, source, library);
    // What the forward pass computed from the source, both passes here compute again: cheaper than to read its output.
    const bool again = unit.fused() && own.channels.scale;
    const Tensor output = again ? Tensor{} : mask;
    if (!own.reduced) {
        reduce(build, unit.layer,
               {.share = given.tensor,
                .output = output,
                .winners = pool.winners,
                .window = window,
                .relu = again,
                .source = source});
    }
    spread(build, unit.layer,
           {.gradient = given.tensor,
            .output = output,
            .winners = pool.winners,
            .window = window,
            .relu = again,
            .source = source,
            .result = pool.layer < 0 ? build.over({given}) : build.program.tensor(build.map(unit.layer))});
}

/// Whether the only reader of the unit's ReLU normalises what it reads.
bool is_for_its_reader(const Builder& build, const Unit& unit)
{
    const std::vector<int> reading = readers(build.graph, unit.last());
    if (build.choosers.whole_norms || !unit.fused() || reading.size() != 1) return false;
    const model::LayerKind kind = build.graph.layer(reading.front()).kind;
    if (kind == model::LayerKind::convolution) return reads_scaled(build, reading.front());
    return kind == model::LayerKind::max_pool;
}

}  // namespace

void find_statistics(Builder& build, const Unit& unit, const Tensor& source)
{
    const Tensor channels = build.channels_of(unit.layer);
    const ChannelNumbers found{.mean = build.program.tensor(channels),
                               .inverse_deviation = build.program.tensor(channels),
                               .scale = build.program.tensor(channels),
                               .shift = build.program.tensor(channels)};
    const Trained& weight = build.parameters.of(unit.layer, false);
    const Trained& bias = build.parameters.of(unit.layer, true);
    const Running& running = running_of(build, unit);
    const Output& given = build.output(build.source(unit));
    const Statistics statistics{.source = source,
                                .weight = weight.value,
                                .bias = bias.value,
                                .sum = given.sum,
                                .squares = given.squares,
                                .channels = found,
                                .running_mean = running.mean,
                                .running_variance = running.variance,
                                .partial = given.sum ? Tensor{} : build.program.tensor(partial_sums_of(source)),
                                .epsilon = build.layer(unit).epsilon};
    build.program.append(statistics, given.sum ? "roof:statistics of sums" : "roof:statistics");
    Output& output = build.output(unit.layer);
    output.channels = found;
    output.weight = weight.value;
}

bool is_for_a_sum(const model::Graph& graph, int layer)
{
    const std::vector<int> reading = readers(graph, layer);
    return graph.layer(layer).kind == model::LayerKind::batch_norm && reading.size() == 1 &&
           graph.layer(reading.front()).kind == model::LayerKind::add;
}

bool is_whole_with_sum(const Builder& build, int layer)
{
    if (!build.choosers.whole_norms || !is_for_a_sum(build.graph, layer)) return false;
    const int sum = readers(build.graph, layer).front();
    const std::vector<int>& inputs = build.graph.layer(sum).inputs;
    return relu_behind(build.graph, sum) >= 0 && inputs[0] != inputs[1];
}

void batch_norm(Builder& build, const Unit& unit)
{
    if (is_whole_with_sum(build, unit.layer)) return;
    const Tensor source = build.input(unit);
    build.begin_with_work(unit, Phase::forward);
    build.tape.emplace_back([=, &build] { backward(build, unit, source); });
    Output& output = build.output(unit.layer);
    if (!build.choosers.whole_norms && is_for_a_sum(build.graph, unit.layer)) {
        if (is_by_moments(build, build.source(unit)))
            find_moments(build, unit);
        else
            find_statistics(build, unit, source);
        output.tensor = source;
        output.deferred = true;
        return;
    }
    const bool is_left = is_for_its_reader(build, unit);
    const bool is_summed = static_cast<bool>(build.output(build.source(unit)).sum);
    const Choice library = is_left || is_summed ? Choice{} : choice_of(build, unit, false);
    if (library.plan >= 0) return normalise_by_library(build, unit, source, library);
    find_statistics(build, unit, source);
    if (is_left) {
        build.put(unit, source);
        Output& read = build.output(unit.last());
        read.channels = output.channels;
        read.scaled = true;
        return;
    }
    const Tensor result = build.program.tensor(build.map(unit.layer));
    const ChannelNumbers& channels = output.channels;
    build.program.append(
        Normalise{
            .source = source, .scale = channels.scale, .shift = channels.shift, .result = result, .relu = unit.fused()},
        "roof:normalise");
    build.put(unit, result);
}

}  // namespace roof::ir
