#include "workloads/cudnn/library/moments_trial.hpp"

#include "ert/gpu/check.hpp"
#include "workloads/cudnn/library/bind.hpp"
#include "workloads/engine/layers/moments.hpp"

namespace roof::cudnn {

MomentsTrial::MomentsTrial(const ConvolutionPass& forward, Convolutions& convolutions, Products& products,
                           const gpu::Stream& stream)
    : stream_(stream), precision_(forward.precision), channels_(forward.result.channels)
{
    const Choosers choosers{[&](const ConvolutionPass& shape) { return convolutions.choose(shape); },
                            [&](const Product& product) { return products.choose(product); }};
    const Tensor numbers{.batch = 1, .channels = channels_};
    const Tensor result = maps_of(forward.batch, forward.result, precision_);
    Tensor signs = result;
    signs.channels /= signs_per_byte;
    signs.precision = Precision::int8;
    const Tensor weights{.batch = 1, .channels = channels_ * forward.source.channels, .precision = precision_};
    const std::vector<float> values = pattern(-0.8F);
    const Given given{.source = value(maps_of(forward.batch, forward.source, precision_), pattern(-0.7F)),
                      .weights = value(weights, pattern(-1)),
                      .share = value(result, {values.rbegin(), values.rend()}),
                      .other = value(result, values),
                      .signs = program_.resident(signs),
                      .weight = value(numbers, pattern(0.2F)),
                      .bias = value(numbers, pattern(0.2F))};
    write_passes(given, bare(forward), choosers);
    write_moments(given, bare(forward), choosers);
    for (std::size_t i = 0; i < passed_.size(); ++i) results_.emplace_back(passed_[i], from_moments_[i]);
    place("trying moments");
    fill();
    constexpr int some_signs = 0xB5;
    gpu::check(cudaMemset(memory().at(given.signs), some_signs, given.signs.bytes()));
    gpu::check(cudaDeviceSynchronize());
    Functions* const ways[]{&by_passes_, &by_moments_};
    for (std::size_t i = 0; i < program_.stages().size(); ++i) {
        for (const ir::Operation& operation : program_.stages()[i].operations)
            ways[i]->push_back(bound(operation, memory(), stream, convolutions, products));
    }
}

void MomentsTrial::append(const ir::Operation& operation, const std::vector<Tensor>& used)
{
    program_.append(operation, used, "");
}

Tensor MomentsTrial::result(Tensor shape, std::vector<Tensor>& to)
{
    return to.emplace_back(program_.resident(shape));
}

ChannelNumbers MomentsTrial::channels()
{
    const auto one = [this] { return program_.resident({.batch = 1, .channels = channels_}); };
    return {one(), one(), one(), one()};
}

void MomentsTrial::convolve(const Choosers& choosers, const ConvolutionPass& shape, Convolve operation)
{
    const Choice choice = choosers.convolution(shape);
    operation.shape = choice.fused ? shape : bare(shape);
    operation.plan = choice.plan;
    operation.workspace = program_.scratch(choice.workspace);
    append(operation, {operation.source, operation.weights, operation.result, operation.workspace});
}

void MomentsTrial::write_passes(const Given& given, ConvolutionPass shape, const Choosers& choosers)
{
    const Tensor numbers{.batch = 1, .channels = channels_};
    const Tensor map = program_.resident(given.share);
    program_.begin("", "", Phase::forward);
    shape.statistics = true;
    const bool is_summed = choosers.convolution(shape).fused;
    const Statistics statistics{.source = map,
                                .weight = given.weight,
                                .bias = given.bias,
                                .sum = is_summed ? program_.resident(numbers) : Tensor{},
                                .squares = is_summed ? program_.resident(numbers) : Tensor{},
                                .channels = channels(),
                                .running_mean = result(numbers, passed_),
                                .running_variance = result(numbers, passed_),
                                .partial = program_.tensor(partial_sums_of(map))};
    convolve(choosers, shape,
             {.source = given.source,
              .weights = given.weights,
              .result = map,
              .sum = statistics.sum,
              .squares = statistics.squares});
    append(statistics, {map, statistics.partial});
    const ReduceGradient reduce{.share = given.share,
                                .other_share = given.other,
                                .signs = given.signs,
                                .source = map,
                                .channels = statistics.channels,
                                .result = program_.tensor(given.share),
                                .sum = result(numbers, passed_),
                                .sum_of_products = result(numbers, passed_),
                                .partial = program_.tensor(statistics.partial)};
    append(reduce, {map, reduce.result, reduce.partial});
    const NormGradient spread{.gradient = reduce.result,
                              .source = map,
                              .weight = given.weight,
                              .channels = statistics.channels,
                              .sum = reduce.sum,
                              .sum_of_products = reduce.sum_of_products,
                              .result = program_.tensor(given.share)};
    append(spread, {spread.gradient, map, spread.result});
    shape = bare(shape);
    shape.pass = Pass::backward_weights;
    convolve(choosers, shape,
             {.source = given.source, .weights = result(given.weights, passed_), .result = spread.result});
    shape.pass = Pass::backward_data;
    convolve(choosers, shape,
             {.source = result(given.source, passed_), .weights = given.weights, .result = spread.result});
}

void MomentsTrial::write_moments(const Given& given, const ConvolutionPass& shape, const Choosers& choosers)
{
    const Tensor numbers{.batch = 1, .channels = channels_};
    program_.begin("", "", Phase::forward);
    convolve(choosers, shape,
             {.source = given.source, .weights = given.weights, .result = program_.tensor(given.share)});
    const NormedProduct both{.source = given.source,
                             .weights = given.weights,
                             .weight = given.weight,
                             .bias = given.bias,
                             .running_mean = result(numbers, from_moments_),
                             .running_variance = result(numbers, from_moments_),
                             .channels = channels()};
    const SourceMoments moments = append_statistics(program_, choosers, both);
    const ReduceGradient reduce{.share = given.share,
                                .other_share = given.other,
                                .signs = given.signs,
                                .result = program_.tensor(given.share),
                                .sum = result(numbers, from_moments_),
                                .partial = program_.tensor(partial_sums_of(given.share))};
    append(reduce, {reduce.result, reduce.partial});
    Tensor weights = given.weights;
    weights.precision = Precision::fp32;
    const Tensor products = result(numbers, from_moments_);
    const NormedGradients gradients{
        .given = reduce.result, .sum = reduce.sum, .weight = products, .weights = result(weights, from_moments_)};
    const Tensor of_source = append_gradients(program_, choosers, both, moments, gradients);
    program_.keep(of_source);
    from_moments_.push_back(of_source);
}

void MomentsTrial::run() const
{
    for (const Functions* const way : {&by_passes_, &by_moments_})
        for (const std::function<void()>& operation : *way) operation();
}

RunInGraph MomentsTrial::in_graph(const Functions& way) const
{
    return {stream_, [&] {
                for (const std::function<void()>& operation : way) operation();
            }};
}

}  // namespace roof::cudnn
