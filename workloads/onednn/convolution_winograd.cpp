#include "workloads/onednn/convolution_winograd.hpp"

namespace roof::onednn {
namespace {

Tensor scratch_for(Program& program, WinogradPass pass, const WinogradConvolution& convolution)
{
    const std::size_t numbers = winograd_scratch(pass, convolution.shape, convolution.threads);
    return program.tensor(plain({static_cast<Dim>(numbers)}));
}

}  // namespace

std::optional<WinogradConvolution> own_winograd(const Convolution& shapes, int threads)
{
    const Dims source = dims_of(shapes.source);
    const model::Window& window = shapes.window;
    const auto extent = [&](std::size_t dim) { return static_cast<int>(source[dim]); };
    const WinogradShape shape{.batch = extent(0),
                              .inputs = extent(1),
                              .outputs = static_cast<int>(shapes.weights[0]),
                              .height = extent(2),
                              .width = extent(3)};
    const bool is_served = shapes.precision == Precision::fp32 && window.size == 3 && window.stride == 1 &&
                           window.padding == 1 && winograd_suits(shape);
    if (!is_served) return std::nullopt;
    return WinogradConvolution{shape, shapes.relu, threads};
}

bool offers_winograd(Precision precision)
{
    return (precision == Precision::fp32 && winograd_lanes() > 0) || library_offers_winograd(precision);
}

void append_forward(Program& program, const WinogradConvolution& convolution, const Tensor& source,
                    const Tensor& weights, const Tensor* bias, const Tensor& result)
{
    const Tensor scratch = scratch_for(program, WinogradPass::forward, convolution);
    std::vector<Tensor> used{source, weights, result, scratch};
    if (bias != nullptr) used.push_back(*bias);
    const Tensor offset = bias == nullptr ? Tensor{} : *bias;
    program.append(
        [=, has_bias = bias != nullptr] {
            winograd_forward(convolution.shape, source.data(), weights.data(), has_bias ? offset.data() : nullptr,
                             convolution.relu, result.data(), scratch.data(), convolution.threads);
        },
        used, winograd_implementation());
}

void append_backward_data(Program& program, const WinogradConvolution& convolution, const Tensor& result_gradient,
                          const Tensor& weights, const Tensor& source_gradient)
{
    const Tensor scratch = scratch_for(program, WinogradPass::backward_data, convolution);
    program.append(
        [=] {
            winograd_backward_data(convolution.shape, result_gradient.data(), weights.data(), source_gradient.data(),
                                   scratch.data(), convolution.threads);
        },
        {result_gradient, weights, source_gradient, scratch}, winograd_implementation());
}

void append_backward_weights(Program& program, const WinogradConvolution& convolution, const Tensor& source,
                             const Tensor& result_gradient, const Tensor& weights_gradient, const Tensor* bias_gradient)
{
    const Tensor scratch = scratch_for(program, WinogradPass::backward_weights, convolution);
    std::vector<Tensor> used{source, result_gradient, weights_gradient, scratch};
    if (bias_gradient != nullptr) used.push_back(*bias_gradient);
    const Tensor sums = bias_gradient == nullptr ? Tensor{} : *bias_gradient;
    program.append(
        [=, has_bias = bias_gradient != nullptr] {
            winograd_backward_weights(convolution.shape, source.data(), result_gradient.data(), weights_gradient.data(),
                                      has_bias ? sums.data() : nullptr, scratch.data(), convolution.threads);
        },
        used, winograd_implementation());
}

}  // namespace roof::onednn
