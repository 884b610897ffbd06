#include "workloads/cudnn/library/moments_trial.hpp"

#include "ert/gpu/check.hpp"
#include "workloads/cudnn/library/bind.hpp"
#include "workloads/cudnn/library/trial.hpp"
#include "workloads/cudnn/program/moments.hpp"

#include <algorithm>

namespace roof::cudnn {
namespace {

Tensor map_of(const ConvolutionShape& shape, const model::Shape& map)
{
    return {.batch = shape.batch,
            .channels = map.channels,
            .height = map.height,
            .width = map.width,
            .precision = shape.precision};
}

}  // namespace

MomentsTrial::MomentsTrial(const ConvolutionShape& forward, Convolutions& convolutions, Products& products,
                           const gpu::Stream& stream)
    : stream_(stream), precision_(forward.precision), channels_(forward.result.channels)
{
    const Choosers choosers{[&](const ConvolutionShape& shape) { return convolutions.choose(shape); },
                            [&](const Product& product) { return products.choose(product); }};
    const Tensor numbers{.batch = 1, .channels = channels_};
    const Tensor result = map_of(forward, forward.result);
    Tensor signs = result;
    signs.channels /= signs_per_byte;
    signs.precision = Precision::int8;
    const Given given{.source = program_.resident(map_of(forward, forward.source)),
                      .weights = program_.resident(
                          {.batch = 1, .channels = channels_ * forward.source.channels, .precision = precision_}),
                      .share = program_.resident(result),
                      .other = program_.resident(result),
                      .signs = program_.resident(signs),
                      .weight = program_.resident(numbers),
                      .bias = program_.resident(numbers)};
    write_passes(given, bare(forward), choosers);
    write_moments(given, bare(forward), choosers);
    for (std::size_t i = 0; i < passed_.size(); ++i) results_.emplace_back(passed_[i], from_moments_[i]);
    bytes_.emplace(program_.place(), "trying moments");
    memory_.emplace(program_, bytes_->data());
    fill(given);
    Functions* const ways[]{&by_passes_, &by_moments_};
    for (std::size_t i = 0; i < program_.stages().size(); ++i) {
        for (const Operation& operation : program_.stages()[i].operations)
            ways[i]->push_back(bound(operation, *memory_, stream, convolutions, products));
    }
}

void MomentsTrial::append(const Operation& operation, const std::vector<Tensor>& used)
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

void MomentsTrial::convolve(const Choosers& choosers, const ConvolutionShape& shape, Convolve operation)
{
    const Choice choice = choosers.convolution(shape);
    operation.shape = choice.fused ? shape : bare(shape);
    operation.plan = choice.plan;
    operation.workspace = program_.scratch(choice.workspace);
    append(operation, {operation.source, operation.weights, operation.result, operation.workspace});
}

void MomentsTrial::write_passes(const Given& given, ConvolutionShape shape, const Choosers& choosers)
{
    const Tensor numbers{.batch = 1, .channels = channels_};
    const Tensor map = program_.resident(given.share);
    program_.begin("", "", Phase::forward);
    shape.statistics = true;
    const bool is_summed = choosers.convolution(shape).fused;
    const auto slabs = static_cast<int>(slabs_of(map.rows(), static_cast<std::size_t>(channels_)));
    const Statistics statistics{.source = map,
                                .weight = given.weight,
                                .bias = given.bias,
                                .sum = is_summed ? program_.resident(numbers) : Tensor{},
                                .squares = is_summed ? program_.resident(numbers) : Tensor{},
                                .channels = channels(),
                                .running_mean = result(numbers, passed_),
                                .running_variance = result(numbers, passed_),
                                .partial = program_.tensor({.batch = slabs, .channels = 2 * channels_})};
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

void MomentsTrial::write_moments(const Given& given, const ConvolutionShape& shape, const Choosers& choosers)
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
    const auto slabs = static_cast<int>(slabs_of(given.share.rows(), static_cast<std::size_t>(channels_)));
    const ReduceGradient reduce{.share = given.share,
                                .other_share = given.other,
                                .signs = given.signs,
                                .result = program_.tensor(given.share),
                                .sum = result(numbers, from_moments_),
                                .partial = program_.tensor({.batch = slabs, .channels = 2 * channels_})};
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

void MomentsTrial::fill(const Given& given) const
{
    constexpr int some_signs = 0xB5;
    gpu::check(cudaMemset(bytes_->data(), 0, bytes_->bytes()));
    repeat(pattern(-0.7F), given.source, *memory_);
    repeat(pattern(-1), given.weights, *memory_);
    std::vector<float> values = pattern(-0.8F);
    repeat(values, given.other, *memory_);
    std::ranges::reverse(values);
    repeat(values, given.share, *memory_);
    for (const Tensor& one : {given.weight, given.bias}) repeat(pattern(0.2F), one, *memory_);
    gpu::check(cudaMemset(memory_->at(given.signs), some_signs, given.signs.bytes()));
    gpu::check(cudaDeviceSynchronize());
}

void MomentsTrial::run() const
{
    for (const Functions* const way : {&by_passes_, &by_moments_})
        for (const std::function<void()>& operation : *way) operation();
}

bool MomentsTrial::agrees() const
{
    constexpr double tolerance = 1e-2;
    gpu::check(cudaDeviceSynchronize());
    return std::ranges::all_of(
        results_, [&](const auto& pair) { return are_near(pair.second, pair.first, *memory_, tolerance); });
}

Seconds MomentsTrial::time_of(const Functions& way) const
{
    return time_in_graph(stream_, [&] {
        for (const std::function<void()>& operation : way) operation();
    });
}

}  // namespace roof::cudnn
