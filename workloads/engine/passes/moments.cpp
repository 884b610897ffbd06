
#include "workloads/engine/passes/passes.hpp"

namespace roof::ir {

namespace {

Tensor matrix(std::size_t rows, int columns, Precision precision = Precision::fp32)
{
    return {.batch = static_cast<int>(rows), .channels = columns, .precision = precision};
}

/// Whether moments serve the convolution: one tap that reads each position, one group, and narrow values.
bool has_moments(const ConvolutionPass& forward)
{
    const bool is_narrow = forward.precision == Precision::bf16 || forward.precision == Precision::fp16;
    return is_narrow && forward.window == model::Window{} && forward.groups == 1 && !forward.bias &&
           forward.source.channels % signs_per_byte == 0 && forward.result.channels % signs_per_byte == 0;
}

/// Whether moments serve the convolution and its batch norm, which a sum alone reads.
bool serve(const Uses& uses, const ListPlace& place, const ListPlace& norm)
{
    const auto& convolution = *place.as<Convolve>();
    if (!norm || convolution.shape.prologue || uses.first<ImportImages>(convolution.source) != nullptr) return false;
    const auto* const normalise = uses.first<Normalise>(norm.as<Statistics>()->channels.scale);
    if (normalise == nullptr || normalise->relu || normalise->other) return false;
    const auto* const sum = uses.only_reader(normalise->result).as<Normalise>();
    return sum != nullptr && sum->other && has_moments(convolution.shape);
}

/// Gradients that the backward pass writes, and the sums of the batch norm's gradient that it reads.
struct NormedGradients {
    Tensor given{}, sum{};  ///< gradient of the batch norm's result; its sums, which are the gradient of the bias
    Tensor weight{};        ///< of the batch norm
    Tensor weights{};       ///< of the convolution, fp32
    Tensor source{};        ///< of the convolution
};

/// Appends the gradients of the convolution and its batch norm.
void append_gradients(List& list, const Tensor& source_map, const MomentStatistics& moments,
                      const NormedGradients& gradients)
{
    const Tensor source = as_rows(source_map);
    const Tensor given = as_rows(gradients.given);
    const Tensor& weights = moments.weights;
    const Tensor products = list.tensor(matrix(weights.rows(), weights.channels));
    list.append(Multiply{.pass = Pass::backward_weights, .source = source, .weights = products, .result = given});
    const Tensor own = matrix(weights.rows(), weights.channels, weights.precision);
    const Tensor scaled = list.tensor(own);
    const Tensor slopes = list.tensor(own);
    const MomentGradient finish{.products = products,
                                .spread = moments.spread,
                                .weights = weights,
                                .mean = moments.mean,
                                .factor = moments.factor,
                                .rows = source.batch,
                                .sum = gradients.sum,
                                .weight = moments.weight,
                                .channels = moments.channels,
                                .sum_of_products = gradients.weight,
                                .gradient = gradients.weights,
                                .scaled = scaled,
                                .slopes = slopes,
                                .shares = list.tensor(matrix(1, given.channels))};
    list.append(finish, "roof:gradient of moments");
    const Tensor curvature =
        list.tensor(matrix(static_cast<std::size_t>(source.channels), source.channels, source.precision));
    list.append(Multiply{.pass = Pass::backward_weights, .source = weights, .weights = curvature, .result = slopes});
    const MomentOffset offset{.weights = weights,
                              .shares = finish.shares,
                              .curvature = curvature,
                              .mean = moments.mean,
                              .result = list.tensor(matrix(1, source.channels, source.precision))};
    list.append(offset, "roof:moment_offset");
    const Tensor rows = as_rows(gradients.source);
    list.append(Multiply{.source = source, .weights = curvature, .result = rows, .bias = offset.result});
    list.append(
        Multiply{.pass = Pass::backward_data, .source = rows, .weights = scaled, .result = given, .adds = true});
}

/// Replaces the backward passes of the batch norm and of the convolution, if there are any.
void differentiate(List& list, const Uses& uses, const Tensor& source, const MomentStatistics& moments)
{
    auto* const reduction = uses.first<ReduceGradient>(moments.channels.mean);
    auto* const spreading = uses.first<NormGradient>(moments.channels.mean);
    if (reduction == nullptr || spreading == nullptr) return;
    NormedGradients gradients{.given = reduction->share, .sum = reduction->sum, .weight = reduction->sum_of_products};
    List::Stage* of_norm = nullptr;
    for (const ListPlace& reader : uses.readers(moments.channels.mean, Phase::backward)) {
        of_norm = reader.stage;
        reader.entry->is_removed = reader.as<NormGradient>() != nullptr;
    }
    for (const ListPlace& reader : uses.readers(spreading->result)) {
        const auto& pass = *reader.as<Convolve>();
        (pass.shape.pass == Pass::backward_data ? gradients.source : gradients.weights) =
            pass.shape.pass == Pass::backward_data ? pass.source : pass.weights;
        engine::add_work(of_norm->part, reader.entry->work);
        ++list.algorithms["gemm"];
        reader.entry->is_removed = true;
        if (pass.shape.pass == Pass::backward_weights) {
            of_norm->part.layer = reader.stage->part.layer + "+" + of_norm->part.layer;
            of_norm->part.kind = reader.stage->part.kind;
            of_norm->ready.insert(of_norm->ready.end(), reader.stage->ready.begin(), reader.stage->ready.end());
            reader.stage->ready.clear();
        }
    }
    *reduction = {.share = gradients.given, .sum = gradients.sum, .partial = reduction->partial};
    List made(list.program());
    made.begin({}, {}, Phase::backward);
    append_gradients(made, source, moments, gradients);
    of_norm->entries.splice(of_norm->entries.end(), made.stages.back().entries);
}

}  // namespace

MomentStatistics append_statistics(List& list, const Tensor& source_map, const Tensor& weights_map,
                                   const Statistics& norm)
{
    const Tensor source = as_rows(source_map);
    const int inputs = source.channels;
    const int outputs = weights_map.channels / inputs;
    const ReduceGradient columns{
        .share = source, .sum = list.tensor(matrix(1, inputs)), .partial = list.tensor(partial_sums_of(source))};
    list.append(columns, "roof:column_sums");
    const Tensor products = list.tensor(matrix(static_cast<std::size_t>(inputs), inputs));
    list.append(Multiply{.pass = Pass::backward_weights, .source = source, .weights = products, .result = source});
    const Covariance covariance{
        .products = products,
        .sums = columns.sum,
        .rows = source.batch,
        .halves = list.tensor(matrix(2 * static_cast<std::size_t>(inputs), inputs, source.precision)),
        .mean = list.tensor(matrix(1, inputs)),
        .factor = list.tensor(matrix(1, 1))};
    list.append(covariance, "roof:covariance");
    Tensor weights = matrix(static_cast<std::size_t>(outputs), inputs, source.precision);
    weights.block = weights_map.block;
    weights.begin = weights_map.begin;
    const Tensor spread = list.tensor(matrix(static_cast<std::size_t>(outputs), 2 * inputs));
    list.append(Multiply{.source = weights, .weights = covariance.halves, .result = spread});
    const MomentStatistics statistics{.spread = spread,
                                      .weights = weights,
                                      .mean = covariance.mean,
                                      .factor = covariance.factor,
                                      .rows = source.batch,
                                      .weight = norm.weight,
                                      .bias = norm.bias,
                                      .channels = norm.channels,
                                      .running_mean = norm.running_mean,
                                      .running_variance = norm.running_variance,
                                      .epsilon = norm.epsilon};
    list.append(statistics, "roof:statistics of moments");
    return statistics;
}

void take_moments(List& list, const Choosers& choosers)
{
    if (!choosers.moments) return;
    const Uses uses(list);
    for_each_of<Convolve>(list, [&](const ListPlace& place, const Convolve& convolution) {
        if (convolution.shape.pass != Pass::forward) return;
        const ListPlace norm = norm_behind(uses, place);
        if (!serve(uses, place, norm) || !choosers.moments(convolution.shape)) return;
        List made(list.program());
        made.begin({}, {}, Phase::forward);
        const MomentStatistics moments =
            append_statistics(made, convolution.source, convolution.weights, *norm.as<Statistics>());
        norm.stage->entries.splice(norm.stage->entries.begin(), made.stages.back().entries);
        norm.entry->is_removed = true;
        differentiate(list, uses, convolution.source, moments);
    });
    list.sweep();
}

void sum_for_statistics(List& list, const Choosers& choosers)
{
    const Uses uses(list);
    for_each_of<Convolve>(list, [&](const ListPlace& place, Convolve& convolution) {
        if (convolution.shape.pass != Pass::forward) return;
        const ListPlace norm = norm_behind(uses, place);
        ConvolutionPass shape = convolution.shape;
        shape.statistics = true;
        if (!norm || !choosers.convolution(shape).fused) return;
        const Tensor channels{.batch = 1, .channels = convolution.result.channels};
        convolution.shape = shape;
        convolution.sum = list.tensor(channels);
        convolution.squares = list.tensor(channels);
        auto& statistics = *norm.as<Statistics>();
        statistics.sum = convolution.sum;
        statistics.squares = convolution.squares;
        statistics.partial = {};
        norm.entry->implementation = "roof:statistics of sums";
    });
}

}  // namespace roof::ir
