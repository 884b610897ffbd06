#include "workloads/cudnn/library/convolution_trial.hpp"

#include "workloads/cudnn/library/bind.hpp"

namespace roof::cudnn {
namespace {

constexpr const char* what_for = "trying a convolution";

/// Returns the tensor that the pass writes.
Tensor& written(Convolve& operation)
{
    if (operation.shape.pass == Pass::forward) return operation.result;
    return operation.shape.pass == Pass::backward_data ? operation.source : operation.weights;
}

}  // namespace

ConvolutionTrial::ConvolutionTrial(const ConvolutionPass& shape, const gpu::Stream& stream)
    : stream_(stream), shape_(shape)
{
    const Precision stored = shape.precision == Precision::tf32 ? Precision::fp32 : shape.precision;
    const Tensor source = maps_of(shape.batch, shape.source, stored);
    const Tensor result = maps_of(shape.batch, shape.result, stored);
    const Tensor inputs{.batch = 1, .channels = shape.source.channels};
    const Tensor outputs{.batch = 1, .channels = shape.result.channels};
    const Tensor weights{.batch = shape.result.channels,
                         .channels = shape.source.channels / shape.groups,
                         .height = shape.window.size,
                         .width = shape.window.size,
                         .precision = source.precision};
    whole_ = {.shape = shape,
              .source = value(source, pattern(-0.7F)),
              .weights = value(weights, pattern(-1)),
              .result = value(result, pattern(-0.8F))};
    alone_ = whole_;
    alone_.shape = bare(shape);
    if (!is_bare(shape)) written(alone_) = program_.resident(written(whole_));
    if (shape.bias || shape.relu) {
        Tensor bias = outputs;
        bias.precision = source.precision;
        if (shape.bias) whole_.bias = value(bias, pattern(-1));
        behind_.emplace_back(AddBias{.values = alone_.result, .bias = whole_.bias, .relu = shape.relu});
    }
    if (shape.prologue) {
        whole_.scale = value(inputs, pattern(0.2F));
        whole_.shift = value(inputs, pattern(-1));
        alone_.source = program_.resident(source);
        before_.emplace_back(Normalise{.source = whole_.source,
                                       .scale = whole_.scale,
                                       .shift = whole_.shift,
                                       .result = alone_.source,
                                       .relu = true});
    }
    if (shape.statistics) {
        whole_.sum = program_.resident(outputs);
        whole_.squares = program_.resident(outputs);
        const auto numbers = [&] { return program_.resident(outputs); };
        const auto statistics = [&](const Tensor& of) {
            return Statistics{.source = of,
                              .weight = value(outputs, pattern(0.2F)),
                              .bias = value(outputs, pattern(-1)),
                              .channels = {numbers(), numbers(), numbers(), numbers()},
                              .running_mean = numbers(),
                              .running_variance = numbers(),
                              .partial = program_.resident(partial_sums_of(result))};
        };
        const Statistics apart = statistics(alone_.result);
        Statistics from_sums = statistics(whole_.result);
        from_sums.sum = whole_.sum;
        from_sums.squares = whole_.squares;
        behind_.emplace_back(apart);
        behind_whole_.emplace_back(from_sums);
        results_ = {{apart.channels.mean, from_sums.channels.mean},
                    {apart.channels.inverse_deviation, from_sums.channels.inverse_deviation}};
    }
    results_.emplace_back(written(alone_), written(whole_));
    place(what_for);
    fill();
}

void* ConvolutionTrial::workspace(std::size_t bytes)
{
    if (bytes > 0 && (!workspace_ || workspace_->bytes() < bytes)) {
        workspace_.reset();
        workspace_ = std::make_unique<gpu::Buffer<std::byte>>(bytes, what_for);
    }
    return workspace_ ? workspace_->data() : nullptr;
}

void ConvolutionTrial::enqueue(const Operations& operations) const
{
    for (const ir::Operation& operation : operations) bound(operation, memory(), stream_)();
}

bool ConvolutionTrial::gains(const std::function<void()>& run_whole, const std::function<void()>& run_alone) const
{
    const RunInGraph whole(stream_, [&] {
        run_whole();
        enqueue(behind_whole_);
    });
    const RunInGraph apart(stream_, [&] {
        run_alone();
        enqueue(behind_);
    });
    const RunInGraph before(stream_, [&] { enqueue(before_); });
    const Fastest fastest = fastest_of(2, [&](std::size_t way) {
        return way == 0 ? apart.seconds() + (before_.empty() ? 0 : before.seconds() / 2) : whole.seconds();
    });
    return fastest.candidate == 1;
}

bool ConvolutionTrial::agrees(const std::function<void()>& run_whole, const std::function<void()>& run_alone) const
{
    run_whole();
    enqueue(behind_whole_);
    enqueue(before_);
    run_alone();
    enqueue(behind_);
    return Trial::agrees(shape_.precision == Precision::fp32 ? 1e-4 : 1e-2);
}

}  // namespace roof::cudnn
