#include "workloads/cudnn/library/norm_trial.hpp"

#include "workloads/cudnn/kernels/kernels.hpp"

#include <algorithm>

namespace roof::cudnn {
namespace {

constexpr float from = -0.7F;  ///< of the values: their mean is not zero

}  // namespace

NormTrial::NormTrial(const NormShape& shape, std::size_t workspace, const gpu::Stream& stream)
    : shape_(shape), stream_(stream), workspace_(program_.scratch(workspace))
{
    if (workspace_) program_.keep(workspace_);
    const Tensor map = maps_of(shape.batch, shape.map, shape.precision);
    const Tensor channels{.batch = 1, .channels = shape.map.channels};
    statistics_ = {.source = value(map, pattern(from)),
                   .weight = value(channels, pattern(from)),
                   .bias = value(channels, pattern(from)),
                   .channels = {program_.resident(channels), program_.resident(channels), program_.resident(channels),
                                program_.resident(channels)},
                   .running_mean = value(channels, pattern(from)),
                   .running_variance = value(channels, {1.0F}),
                   .partial = program_.resident(partial_sums_of(map))};
    shape.backward ? write_backward(map, channels) : write_forward(map, channels);
    place("trying a batch norm");
    fill();  // counters must be zero before the first pass
}

void NormTrial::write_forward(const Tensor& map, const Tensor& channels)
{
    normalise_ = {.source = statistics_.source,
                  .scale = statistics_.channels.scale,
                  .shift = statistics_.channels.shift,
                  .result = program_.resident(map),
                  .relu = shape_.relu};
    forward_ = {.shape = shape_,
                .source = statistics_.source,
                .weight = statistics_.weight,
                .bias = statistics_.bias,
                .channels = {program_.resident(channels), program_.resident(channels), {}, {}},
                .running_mean = value(channels, pattern(from)),
                .running_variance = value(channels, {1.0F}),
                .result = program_.resident(map),
                .workspace = workspace_};
    results_ = {{statistics_.channels.mean, forward_.channels.mean},
                {statistics_.channels.inverse_deviation, forward_.channels.inverse_deviation},
                {statistics_.running_mean, forward_.running_mean},
                {statistics_.running_variance, forward_.running_variance},
                {normalise_.result, forward_.result}};
}

void NormTrial::write_backward(const Tensor& map, const Tensor& channels)
{
    std::vector<float> values = pattern(from);
    std::ranges::reverse(values);  // the gradient of a batch norm is 0 where the gradient given is its source
    const Tensor gradient = value(map, values);
    normalise_ = {.source = statistics_.source,
                  .scale = statistics_.channels.scale,
                  .shift = statistics_.channels.shift,
                  .result = program_.resident(map),
                  .relu = shape_.relu};
    const Tensor output = shape_.relu ? normalise_.result : Tensor{};
    reduce_ = {.share = gradient,
               .relu = shape_.relu,
               .source = statistics_.source,
               .channels = statistics_.channels,
               .sum = program_.resident(channels),
               .sum_of_products = program_.resident(channels),
               .partial = statistics_.partial};
    spread_ = {.gradient = gradient,
               .relu = shape_.relu,
               .source = statistics_.source,
               .weight = statistics_.weight,
               .channels = statistics_.channels,
               .sum = reduce_.sum,
               .sum_of_products = reduce_.sum_of_products,
               .result = program_.resident(map)};
    backward_ = {.shape = shape_,
                 .gradient = gradient,
                 .output = output,
                 .source = statistics_.source,
                 .weight = statistics_.weight,
                 .channels = statistics_.channels,
                 .sum = program_.resident(channels),
                 .sum_of_products = program_.resident(channels),
                 .result = program_.resident(map),
                 .workspace = workspace_};
    results_ = {{reduce_.sum, backward_.sum},
                {reduce_.sum_of_products, backward_.sum_of_products},
                {spread_.result, backward_.result}};
}

/// Also computes what the backward pass reads: mean and deviation of the source, and the output.
void NormTrial::fill() const
{
    Trial::fill();
    if (!shape_.backward) return;
    enqueue(statistics_, memory(), stream_.get());
    enqueue(normalise_, memory(), stream_.get());
}

void NormTrial::enqueue_own() const
{
    if (shape_.backward) {
        enqueue(reduce_, memory(), stream_.get());
        enqueue(spread_, memory(), stream_.get());
    } else {
        enqueue(statistics_, memory(), stream_.get());
        enqueue(normalise_, memory(), stream_.get());
    }
}

bool NormTrial::agrees(const std::function<void()>& enqueue_plan) const
{
    fill();
    enqueue_own();
    enqueue_plan();
    return Trial::agrees(shape_.precision == Precision::fp32 ? 1e-4 : 1e-2);
}

}  // namespace roof::cudnn
