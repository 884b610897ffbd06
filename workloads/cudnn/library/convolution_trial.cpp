#include "workloads/cudnn/library/convolution_trial.hpp"

#include "ert/gpu/check.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/library/trial.hpp"

namespace roof::cudnn {
namespace {

constexpr const char* what_for = "trying a convolution";

Tensor map_of(const ConvolutionShape& shape, const model::Shape& map)
{
    return {.batch = shape.batch,
            .channels = map.channels,
            .height = map.height,
            .width = map.width,
            .precision = shape.precision == Precision::tf32 ? Precision::fp32 : shape.precision};
}

/// Returns the tensor that the pass writes.
Tensor& written(Convolve& operation)
{
    if (operation.shape.pass == Pass::forward) return operation.result;
    return operation.shape.pass == Pass::backward_data ? operation.source : operation.weights;
}

}  // namespace

ConvolutionTrial::ConvolutionTrial(const ConvolutionShape& shape, const gpu::Stream& stream)
    : stream_(stream), shape_(shape)
{
    const Tensor source = map_of(shape, shape.source);
    const Tensor result = map_of(shape, shape.result);
    const Tensor inputs{.batch = 1, .channels = shape.source.channels};
    const Tensor outputs{.batch = 1, .channels = shape.result.channels};
    const Tensor weights{.batch = shape.result.channels,
                         .channels = shape.source.channels,
                         .height = shape.window.size,
                         .width = shape.window.size,
                         .precision = source.precision};
    whole_ = {
        .shape = shape, .source = value(source, -0.7F), .weights = value(weights, -1), .result = value(result, -0.8F)};
    alone_ = whole_;
    alone_.shape = bare(shape);
    if (!is_bare(shape)) written(alone_) = program_.resident(written(whole_));
    if (shape.bias || shape.relu) {
        Tensor bias = outputs;
        bias.precision = source.precision;
        if (shape.bias) whole_.bias = value(bias, -1);
        epilogue_ = {.values = alone_.result, .bias = whole_.bias, .relu = shape.relu};
    }
    if (shape.prologue) {
        whole_.scale = value(inputs, 0.2F);
        whole_.shift = value(inputs, -1);
        alone_.source = program_.resident(source);
        normalise_ = {.source = whole_.source,
                      .scale = whole_.scale,
                      .shift = whole_.shift,
                      .result = alone_.source,
                      .relu = true};
    }
    if (shape.statistics) {
        whole_.sum = program_.resident(outputs);
        whole_.squares = program_.resident(outputs);
        const auto slabs = static_cast<int>(slabs_of(result.rows(), static_cast<std::size_t>(result.channels)));
        const auto numbers = [&] { return program_.resident(outputs); };
        const auto statistics = [&](const Tensor& of) {
            return Statistics{.source = of,
                              .weight = value(outputs, 0.2F),
                              .bias = value(outputs, -1),
                              .channels = {numbers(), numbers(), numbers(), numbers()},
                              .running_mean = numbers(),
                              .running_variance = numbers(),
                              .partial = program_.resident({.batch = slabs, .channels = 2 * result.channels})};
        };
        apart_ = statistics(alone_.result);
        from_sums_ = statistics(whole_.result);
        from_sums_.sum = whole_.sum;
        from_sums_.squares = whole_.squares;
    }
    bytes_.emplace(program_.place(), what_for);
    memory_.emplace(program_, bytes_->data());
    gpu::check(cudaMemset(bytes_->data(), 0, bytes_->bytes()));
    for (const Filled& one : filled_) repeat(pattern(one.from), one.tensor, *memory_);
    gpu::check(cudaDeviceSynchronize());
}

Tensor ConvolutionTrial::value(const Tensor& shape, float from)
{
    return filled_.emplace_back(Filled{program_.resident(shape), from}).tensor;
}

void* ConvolutionTrial::workspace(std::size_t bytes)
{
    if (bytes > 0 && (!workspace_ || workspace_->bytes() < bytes)) {
        workspace_.reset();
        workspace_ = std::make_unique<gpu::Buffer<std::byte>>(bytes, what_for);
    }
    return workspace_ ? workspace_->data() : nullptr;
}

void ConvolutionTrial::enqueue_before() const
{
    if (shape_.prologue) enqueue(normalise_, *memory_, stream_.get());
}

void ConvolutionTrial::enqueue_behind() const
{
    if (shape_.bias || shape_.relu) enqueue(epilogue_, *memory_, stream_.get());
    if (shape_.statistics) enqueue(apart_, *memory_, stream_.get());
}

bool ConvolutionTrial::gains(const std::function<void()>& run_whole, const std::function<void()>& run_alone) const
{
    const Seconds whole = time_in_graph(stream_, [&] {
        run_whole();
        if (shape_.statistics) enqueue(from_sums_, *memory_, stream_.get());
    });
    const Seconds apart = time_in_graph(stream_, [&] {
        run_alone();
        enqueue_behind();
    });
    const Seconds before = shape_.prologue ? time_in_graph(stream_, [&] { enqueue_before(); }) : Seconds{};
    return whole < before / 2 + apart;
}

bool ConvolutionTrial::agrees(const std::function<void()>& run_whole, const std::function<void()>& run_alone) const
{
    const double tolerance = shape_.precision == Precision::fp32 ? 1e-4 : 1e-2;
    const auto near = [&](const Tensor& found, const Tensor& due) { return are_near(found, due, *memory_, tolerance); };
    run_whole();
    if (shape_.statistics) enqueue(from_sums_, *memory_, stream_.get());
    enqueue_before();
    run_alone();
    enqueue_behind();
    gpu::check(cudaStreamSynchronize(stream_.get()));
    Convolve one = whole_;
    Convolve other = alone_;
    if (!near(written(one), written(other))) return false;
    return !shape_.statistics || (near(from_sums_.channels.mean, apart_.channels.mean) &&
                                  near(from_sums_.channels.inverse_deviation, apart_.channels.inverse_deviation));
}

}  // namespace roof::cudnn
