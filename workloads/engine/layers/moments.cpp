#include "workloads/engine/layers/moments.hpp"

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

/// Appends the product, with its bias in an operation of its own where the library does not add it.
void append(Program& program, const Choosers& choosers, Multiply product)
{
    const Tensor& written = product.pass == Pass::forward         ? product.result
                            : product.pass == Pass::backward_data ? product.source
                                                                  : product.weights;
    const Tensor& read = product.pass == Pass::backward_data ? product.result : product.source;
    const Choice choice = choosers.product({.pass = product.pass,
                                            .batch = product.source.batch,
                                            .inputs = product.source.channels,
                                            .outputs = product.result.channels,
                                            .precision = read.precision,
                                            .result_precision = written.precision,
                                            .bias = static_cast<bool>(product.bias),
                                            .adds = product.adds});
    const Tensor bias = product.bias;
    const bool is_apart = bias && !choice.fused;
    if (is_apart) product.bias = {};
    product.plan = choice.plan;
    product.workspace = program.scratch(choice.workspace);
    const Tensor added = product.adds ? written : Tensor{};
    // Two operands may be the same tensor, which is then read once.
    const Tensor second = product.source.block == product.result.block ? Tensor{} : product.result;
    program.append(product, {product.source, product.weights, second, product.bias, added, product.workspace},
                   choice.implementation);
    if (is_apart) program.append(AddBias{written, bias}, {written, written, bias}, "roof:bias");
}

}  // namespace

bool has_moments(const ConvolutionPass& forward)
{
    const bool is_narrow = forward.precision == Precision::bf16 || forward.precision == Precision::fp16;
    const bool is_point = forward.window.size == 1 && forward.window.stride == 1 && forward.window.padding == 0;
    return is_narrow && is_point && !forward.bias && forward.source.channels % signs_per_byte == 0 &&
           forward.result.channels % signs_per_byte == 0;
}

SourceMoments append_statistics(Program& program, const Choosers& choosers, const NormedProduct& both)
{
    const Tensor source = as_rows(both.source);
    const int inputs = source.channels;
    const int outputs = both.weights.channels / inputs;
    const ReduceGradient columns{
        .share = source, .sum = program.tensor(matrix(1, inputs)), .partial = program.tensor(partial_sums_of(source))};
    program.append(columns, {source, columns.sum, columns.partial}, "roof:column_sums");
    const Tensor products = program.tensor(matrix(static_cast<std::size_t>(inputs), inputs));
    append(program, choosers,
           {.pass = Pass::backward_weights, .source = source, .weights = products, .result = source});
    const Covariance covariance{
        .products = products,
        .sums = columns.sum,
        .rows = source.batch,
        .halves = program.tensor(matrix(2 * static_cast<std::size_t>(inputs), inputs, source.precision)),
        .mean = program.tensor(matrix(1, inputs)),
        .factor = program.tensor(matrix(1, 1))};
    program.append(covariance, {products, covariance.sums, covariance.halves, covariance.mean, covariance.factor},
                   "roof:covariance");
    Tensor weights = matrix(static_cast<std::size_t>(outputs), inputs, source.precision);
    weights.block = both.weights.block;
    weights.begin = both.weights.begin;
    const Tensor spread = program.tensor(matrix(static_cast<std::size_t>(outputs), 2 * inputs));
    append(program, choosers, {.source = weights, .weights = covariance.halves, .result = spread});
    const MomentStatistics statistics{.spread = spread,
                                      .weights = weights,
                                      .mean = covariance.mean,
                                      .factor = covariance.factor,
                                      .rows = source.batch,
                                      .weight = both.weight,
                                      .bias = both.bias,
                                      .channels = both.channels,
                                      .running_mean = both.running_mean,
                                      .running_variance = both.running_variance};
    program.append(statistics,
                   {spread, weights, statistics.mean, statistics.factor, both.weight, both.bias, both.channels.mean,
                    both.channels.inverse_deviation, both.channels.scale, both.channels.shift, both.running_mean,
                    both.running_variance},
                   "roof:statistics of moments");
    return {spread, covariance.mean, covariance.factor};
}

Tensor append_gradients(Program& program, const Choosers& choosers, const NormedProduct& both,
                        const SourceMoments& moments, const NormedGradients& gradients)
{
    const Tensor source = as_rows(both.source);
    const Tensor given = as_rows(gradients.given);
    Tensor weights = matrix(static_cast<std::size_t>(given.channels), source.channels, source.precision);
    const Tensor products = program.tensor(matrix(weights.rows(), weights.channels));
    append(program, choosers, {.pass = Pass::backward_weights, .source = source, .weights = products, .result = given});
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
    program.append(
        finish,
        {products, finish.spread, weights, finish.mean, finish.factor, finish.sum, finish.weight,
         both.channels.inverse_deviation, finish.sum_of_products, finish.gradient, scaled, slopes, finish.shares},
        "roof:gradient of moments");
    const Tensor curvature =
        program.tensor(matrix(static_cast<std::size_t>(source.channels), source.channels, source.precision));
    append(program, choosers,
           {.pass = Pass::backward_weights, .source = weights, .weights = curvature, .result = slopes});
    const MomentOffset offset{.weights = weights,
                              .shares = finish.shares,
                              .curvature = curvature,
                              .mean = moments.mean,
                              .result = program.tensor(matrix(1, source.channels, source.precision))};
    program.append(offset, {weights, offset.shares, curvature, offset.mean, offset.result}, "roof:moment_offset");
    const Tensor result = program.tensor(both.source);
    const Tensor rows = as_rows(result);
    append(program, choosers, {.source = source, .weights = curvature, .result = rows, .bias = offset.result});
    append(program, choosers,
           {.pass = Pass::backward_data, .source = rows, .weights = scaled, .result = given, .adds = true});
    return result;
}

}  // namespace roof::ir
