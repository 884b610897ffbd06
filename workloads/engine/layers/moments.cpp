#include "workloads/engine/layers/moments.hpp"

#include "workloads/engine/layers/builder.hpp"

namespace roof::ir {
namespace {

/// The same values as a matrix with a row for each position.
Tensor as_rows(Tensor map)
{
    map.batch = static_cast<int>(map.rows());
    map.height = map.width = 1;
    return map;
}

Tensor matrix(std::size_t rows, int columns, Precision precision = Precision::fp32)
{
    return {.batch = static_cast<int>(rows), .channels = columns, .precision = precision};
}

}  // namespace

bool has_moments(const ConvolutionPass& forward)
{
    const bool is_narrow = forward.precision == Precision::bf16 || forward.precision == Precision::fp16;
    const bool is_point = forward.window.size == 1 && forward.window.stride == 1 && forward.window.padding == 0;
    return is_narrow && is_point && forward.groups == 1 && !forward.bias &&
           forward.source.channels % signs_per_byte == 0 && forward.result.channels % signs_per_byte == 0;
}

SourceMoments append_statistics(Program& program, const Choosers& choosers, const NormedProduct& both)
{
    const Tensor source = as_rows(both.source);
    const int inputs = source.channels;
    const int outputs = both.weights.channels / inputs;
    const ReduceGradient columns{
        .share = source, .sum = program.tensor(matrix(1, inputs)), .partial = program.tensor(partial_sums_of(source))};
    program.append(columns, "roof:column_sums");
    const Tensor products = program.tensor(matrix(static_cast<std::size_t>(inputs), inputs));
    append_product(program, choosers, source.precision,
                   {.pass = Pass::backward_weights, .source = source, .weights = products, .result = source});
    const Covariance covariance{
        .products = products,
        .sums = columns.sum,
        .rows = source.batch,
        .halves = program.tensor(matrix(2 * static_cast<std::size_t>(inputs), inputs, source.precision)),
        .mean = program.tensor(matrix(1, inputs)),
        .factor = program.tensor(matrix(1, 1))};
    program.append(covariance, "roof:covariance");
    Tensor weights = matrix(static_cast<std::size_t>(outputs), inputs, source.precision);
    weights.block = both.weights.block;
    weights.begin = both.weights.begin;
    const Tensor spread = program.tensor(matrix(static_cast<std::size_t>(outputs), 2 * inputs));
    append_product(program, choosers, source.precision,
                   {.source = weights, .weights = covariance.halves, .result = spread});
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
    program.append(statistics, "roof:statistics of moments");
    return {spread, covariance.mean, covariance.factor};
}

Tensor append_gradients(Program& program, const Choosers& choosers, const NormedProduct& both,
                        const SourceMoments& moments, const NormedGradients& gradients)
{
    const Tensor source = as_rows(both.source);
    const Tensor given = as_rows(gradients.given);
    Tensor weights = matrix(static_cast<std::size_t>(given.channels), source.channels, source.precision);
    const Tensor products = program.tensor(matrix(weights.rows(), weights.channels));
    append_product(program, choosers, source.precision,
                   {.pass = Pass::backward_weights, .source = source, .weights = products, .result = given});
    const Tensor scaled = program.tensor(weights);
    const Tensor slopes = program.tensor(weights);
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
                                .shares = program.tensor(matrix(1, given.channels))};
    program.append(finish, "roof:gradient of moments");
    const Tensor curvature =
        program.tensor(matrix(static_cast<std::size_t>(source.channels), source.channels, source.precision));
    append_product(program, choosers, source.precision,
                   {.pass = Pass::backward_weights, .source = weights, .weights = curvature, .result = slopes});
    const MomentOffset offset{.weights = weights,
                              .shares = finish.shares,
                              .curvature = curvature,
                              .mean = moments.mean,
                              .result = program.tensor(matrix(1, source.channels, source.precision))};
    program.append(offset, "roof:moment_offset");
    const Tensor result = program.tensor(both.source);
    const Tensor rows = as_rows(result);
    append_product(program, choosers, source.precision,
                   {.source = source, .weights = curvature, .result = rows, .bias = offset.result});
    append_product(program, choosers, source.precision,
                   {.pass = Pass::backward_data, .source = rows, .weights = scaled, .result = given, .adds = true});
    return result;
}

}  // namespace roof::ir
