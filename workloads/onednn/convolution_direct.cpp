#include "workloads/onednn/convolution_direct.hpp"

#include "workloads/onednn/loops/direct/weights_gradient.hpp"

#include <algorithm>

namespace roof::onednn {
namespace {

/// A pass that needs none has a little, for a tensor is never empty.
Tensor scratch_of(Program& program, std::size_t numbers)
{
    return program.tensor(plain({static_cast<Dim>(std::max<std::size_t>(1, numbers))}));
}

Tensor scratch_for(Program& program, DirectPass pass, const DirectConvolution& convolution)
{
    return scratch_of(program, direct_scratch(pass, convolution.shape, convolution.threads));
}

}  // namespace

std::optional<DirectConvolution> own_direct(const Convolution& shapes, int threads)
{
    const Dims source = dims_of(shapes.source);
    const model::Window& window = shapes.window;
    const auto extent = [&](std::size_t dim) { return static_cast<int>(source[dim]); };
    const DirectShape shape{.batch = extent(0),
                            .inputs = extent(1),
                            .outputs = static_cast<int>(shapes.weights[0]),
                            .height = extent(2),
                            .width = extent(3),
                            .window = window.size,
                            .stride = window.stride,
                            .padding = window.padding};
    const bool is_served = shapes.precision == Precision::fp32 || (has_direct_weights_bf16() && shape.batch > 1);
    if (!is_served || !direct_suits(shape)) return std::nullopt;
    return DirectConvolution{shape, shapes.relu, threads, shapes.precision};
}

const char* DirectConvolution::name() const
{
    return precision == Precision::bf16 ? direct_weights_implementation_bf16() : direct_implementation();
}

void append_forward(Program& program, const DirectConvolution& convolution, const Tensor& source, const Tensor& weights,
                    const Tensor* bias, const Tensor& result)
{
    const Tensor scratch = scratch_for(program, DirectPass::forward, convolution);
    std::vector<Tensor> used{source, weights, result, scratch};
    if (bias != nullptr) used.push_back(*bias);
    const Tensor offset = bias == nullptr ? Tensor{} : *bias;
    program.append(
        [=, has_bias = bias != nullptr] {
            direct_forward(convolution.shape, source.data(), weights.data(), has_bias ? offset.data() : nullptr,
                           convolution.relu, result.data(), scratch.data(), convolution.threads);
        },
        used, direct_implementation());
}

void append_backward_data(Program& program, const DirectConvolution& convolution, const Tensor& result_gradient,
                          const Tensor& weights, const Tensor& source_gradient)
{
    const Tensor scratch = scratch_for(program, DirectPass::backward_data, convolution);
    program.append(
        [=] {
            direct_backward_data(convolution.shape, result_gradient.data(), weights.data(), source_gradient.data(),
                                 scratch.data(), convolution.threads);
        },
        {result_gradient, weights, source_gradient, scratch}, direct_implementation());
}

void append_backward_weights(Program& program, const DirectConvolution& convolution, const Tensor& source,
                             const Tensor& result_gradient, const Tensor& weights_gradient, const Tensor* bias_gradient)
{
    const bool is_bf16 = convolution.precision == Precision::bf16;
    const Tensor scratch =
        scratch_of(program, is_bf16 ? direct_weights_scratch_bf16(convolution.shape, convolution.threads)
                                    : direct_weights_scratch(convolution.shape, convolution.threads));
    std::vector<Tensor> used{source, result_gradient, weights_gradient, scratch};
    if (bias_gradient != nullptr) used.push_back(*bias_gradient);
    const Tensor sums = bias_gradient == nullptr ? Tensor{} : *bias_gradient;
    program.append(
        [=, has_bias = bias_gradient != nullptr] {
            const auto run = [&](const auto* x, const auto* dy) {
                direct_backward_weights(convolution.shape, x, dy, weights_gradient.data(),
                                        has_bias ? sums.data() : nullptr, scratch.data(), convolution.threads);
            };
            if (is_bf16)
                run(source.elements().as<BFloat16>(), result_gradient.elements().as<BFloat16>());
            else
                run(source.data(), result_gradient.data());
        },
        used, convolution.name());
}

}  // namespace roof::onednn
