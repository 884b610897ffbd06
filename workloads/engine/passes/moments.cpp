#include "workloads/engine/passes/moments.hpp"

#include "workloads/engine/passes/norms.hpp"
#include "workloads/engine/passes/passes.hpp"

namespace roof::ir {
namespace {

Tensor matrix(std::size_t rows, int columns, Precision precision = Precision::fp32)
{
    return {.batch = static_cast<int>(rows), .channels = columns, .precision = precision};
}

/// Whether moments serve the convolution and its batch norm, which a sum alone reads.
bool serve(const Uses& uses, const Place& place, const Place& norm)
{
    const auto& convolution = *place.as<Convolve>();
    if (!norm || convolution.shape.prologue || uses.first<ImportImages>(convolution.source) != nullptr) return false;
    const auto* const normalise = uses.first<Normalise>(norm.as<Statistics>()->channels.scale);
    if (normalise == nullptr || normalise->relu || normalise->other) return false;
    const auto* const sum = uses.only_reader(normalise->result).as<Normalise>();
    return sum != nullptr && sum->other && has_moments(convolution.shape);
}

/// Replaces the backward passes of the batch norm and of the convolution, if there are any.
void differentiate(List& list, const Uses& uses, const NormedProduct& both, const SourceMoments& moments)
{
    auto* const reduction = uses.first<ReduceGradient>(both.channels.mean);
    auto* const spreading = uses.first<NormGradient>(both.channels.mean);
    if (reduction == nullptr || spreading == nullptr) return;
    NormedGradients gradients{.given = reduction->share, .sum = reduction->sum, .weight = reduction->sum_of_products};
    List::Stage* of_norm = nullptr;
    for (const Place& reader : uses.readers(both.channels.mean, Phase::backward)) {
        of_norm = reader.stage;
        reader.entry->is_removed = reader.as<NormGradient>() != nullptr;
    }
    for (const Place& reader : uses.readers(spreading->result)) {
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
    append_gradients(made, both, moments, gradients);
    of_norm->entries.splice(of_norm->entries.end(), made.stages.back().entries);
}

}  // namespace

bool has_moments(const ConvolutionPass& forward)
{
    const bool is_narrow = forward.precision == Precision::bf16 || forward.precision == Precision::fp16;
    return is_narrow && forward.window == model::Window{} && forward.groups == 1 && !forward.bias &&
           forward.source.channels % signs_per_byte == 0 && forward.result.channels % signs_per_byte == 0;
}

SourceMoments append_statistics(List& list, const NormedProduct& both)
{
    const Tensor source = as_rows(both.source);
    const int inputs = source.channels;
    const int outputs = both.weights.channels / inputs;
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
    weights.block = both.weights.block;
    weights.begin = both.weights.begin;
    const Tensor spread = list.tensor(matrix(static_cast<std::size_t>(outputs), 2 * inputs));
    list.append(Multiply{.source = weights, .weights = covariance.halves, .result = spread});
    const MomentStatistics statistics{.spread = spread,
                                      .weights = weights,
                                      .mean = covariance.mean,
                                      .factor = covariance.factor,
                                      .rows = source.batch,
                                      .weight = both.weight,
                                      .bias = both.bias,
                                      .channels = both.channels,
                                      .running_mean = both.running_mean,
                                      .running_variance = both.running_variance,
                                      .epsilon = both.epsilon};
    list.append(statistics, "roof:statistics of moments");
    return {spread, covariance.mean, covariance.factor};
}

void append_gradients(List& list, const NormedProduct& both, const SourceMoments& moments,
                      const NormedGradients& gradients)
{
    const Tensor source = as_rows(both.source);
    const Tensor given = as_rows(gradients.given);
    Tensor weights = matrix(static_cast<std::size_t>(given.channels), source.channels, source.precision);
    const Tensor products = list.tensor(matrix(weights.rows(), weights.channels));
    list.append(Multiply{.pass = Pass::backward_weights, .source = source, .weights = products, .result = given});
    const Tensor scaled = list.tensor(weights);
    const Tensor slopes = list.tensor(weights);
    weights.block = both.weights.block;
    weights.begin = both.weights.begin;
    const MomentGradient finish{.products = products,
                                .spread = moments.spread,
                                .weights = weights,
                                .mean = moments.mean,
                                .factor = moments.factor,
                                .rows = source.batch,
                                .sum = gradients.sum,
                                .weight = both.weight,
                                .channels = both.channels,
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

void take_moments(List& list, const Choosers& choosers)
{
    if (!choosers.moments) return;
    const Uses uses(list);
    for_each_of<Convolve>(list, [&](const Place& place, const Convolve& convolution) {
        if (convolution.shape.pass != Pass::forward) return;
        const Place norm = norm_behind(uses, place);
        if (!serve(uses, place, norm) || !choosers.moments(convolution.shape)) return;
        const Statistics statistics = *norm.as<Statistics>();
        const NormedProduct both{.source = convolution.source,
                                 .weights = convolution.weights,
                                 .weight = statistics.weight,
                                 .bias = statistics.bias,
                                 .running_mean = statistics.running_mean,
                                 .running_variance = statistics.running_variance,
                                 .channels = statistics.channels,
                                 .epsilon = statistics.epsilon};
        List made(list.program());
        made.begin({}, {}, Phase::forward);
        const SourceMoments moments = append_statistics(made, both);
        norm.stage->entries.splice(norm.stage->entries.begin(), made.stages.back().entries);
        norm.entry->is_removed = true;
        differentiate(list, uses, both, moments);
    });
    list.sweep();
}

}  // namespace roof::ir
