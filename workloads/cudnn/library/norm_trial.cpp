#include "workloads/cudnn/library/norm_trial.hpp"

#include "ert/gpu/check.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/library/trial.hpp"

#include <algorithm>
#include <cstddef>

namespace roof::cudnn {
NormTrial::NormTrial(const NormShape& shape, std::size_t workspace, const gpu::Stream& stream)
    : shape_(shape), stream_(stream), workspace_(program_.scratch(workspace))
{
    if (workspace_) program_.keep(workspace_);
    const Tensor map{.batch = shape.batch,
                     .channels = shape.map.channels,
                     .height = shape.map.height,
                     .width = shape.map.width,
                     .precision = shape.precision};
    const Tensor channels{.batch = 1, .channels = shape.map.channels};
    const auto slabs = static_cast<int>(slabs_of(map.rows(), static_cast<std::size_t>(map.channels)));
    statistics_ = {.source = value(map),
                   .weight = value(channels),
                   .bias = value(channels),
                   .channels = {program_.resident(channels), program_.resident(channels), program_.resident(channels),
                                program_.resident(channels)},
                   .running_mean = value(channels),
                   .running_variance = program_.resident(channels),
                   .partial = program_.resident({.batch = slabs, .channels = 2 * map.channels})};
    ones_.push_back(statistics_.running_variance);
    shape.backward ? write_backward(map, channels) : write_forward(map, channels);
    bytes_.emplace(program_.place(), "trying a batch norm");
    memory_.emplace(program_, bytes_->data());
    fill();  // counters must be zero before the first pass
}

Tensor NormTrial::value(const Tensor& shape)
{
    return values_.emplace_back(program_.resident(shape));
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
                .running_mean = value(channels),
                .running_variance = program_.resident(channels),
                .result = program_.resident(map),
                .workspace = workspace_};
    ones_.push_back(forward_.running_variance);
    results_ = {{statistics_.channels.mean, forward_.channels.mean},
                {statistics_.channels.inverse_deviation, forward_.channels.inverse_deviation},
                {statistics_.running_mean, forward_.running_mean},
                {statistics_.running_variance, forward_.running_variance},
                {normalise_.result, forward_.result}};
}

void NormTrial::write_backward(const Tensor& map, const Tensor& channels)
{
    const Tensor gradient = value(map);
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
    gpu::check(cudaMemset(bytes_->data(), 0, bytes_->bytes()));
    std::vector<float> values = pattern(-0.7F);  // the mean is not zero
    const std::vector<float> ones(pattern_length, 1.0F);
    for (const Tensor& tensor : values_) repeat(values, tensor, *memory_);
    for (const Tensor& tensor : ones_) repeat(ones, tensor, *memory_);
    // The gradient of a batch norm is 0 where the gradient given is its source.
    std::ranges::reverse(values);
    if (shape_.backward) repeat(values, spread_.gradient, *memory_);
    gpu::check(cudaDeviceSynchronize());
    if (!shape_.backward) return;
    enqueue(statistics_, *memory_, stream_.get());
    enqueue(normalise_, *memory_, stream_.get());
}

void NormTrial::enqueue_own() const
{
    if (shape_.backward) {
        enqueue(reduce_, *memory_, stream_.get());
        enqueue(spread_, *memory_, stream_.get());
    } else {
        enqueue(statistics_, *memory_, stream_.get());
        enqueue(normalise_, *memory_, stream_.get());
    }
}

bool NormTrial::agrees(const std::function<void()>& enqueue_plan) const
{
    const double tolerance = shape_.precision == Precision::fp32 ? 1e-4 : 1e-2;
    fill();
    enqueue_own();
    enqueue_plan();
    gpu::check(cudaDeviceSynchronize());
    return std::ranges::all_of(
        results_, [&](const auto& pair) { return are_near(pair.second, pair.first, *memory_, tolerance); });
}

}  // namespace roof::cudnn
