#include "workloads/onednn/convolution/direct.hpp"

#include "workloads/onednn/loops/direct/weights_gradient.hpp"

namespace roof::onednn {

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

std::size_t DirectConvolution::scratch(OwnPass pass) const
{
    if (pass == OwnPass::forward) return direct_scratch(DirectPass::forward, shape, threads);
    if (pass == OwnPass::backward_data) return direct_scratch(DirectPass::backward_data, shape, threads);
    return precision == Precision::bf16 ? direct_weights_scratch_bf16(shape, threads)
                                        : direct_weights_scratch(shape, threads);
}

void DirectConvolution::run(OwnPass pass, const OwnTensors& t) const
{
    const auto backward_weights = [&](const auto* source, const auto* given) {
        direct_backward_weights(shape, source, given, t.weights.data(), t.bias_data(), t.scratch.data(), threads);
    };
    switch (pass) {
        case OwnPass::forward:
            return direct_forward(shape, t.source.data(), t.weights.data(), t.bias_data(), relu, t.result.data(),
                                  t.scratch.data(), threads);
        case OwnPass::backward_data:
            return direct_backward_data(shape, t.result.data(), t.weights.data(), t.source.data(), t.scratch.data(),
                                        threads);
        case OwnPass::backward_weights:
            if (precision == Precision::bf16)
                return backward_weights(t.source.elements().as<BFloat16>(), t.result.elements().as<BFloat16>());
            return backward_weights(t.source.data(), t.result.data());
    }
}

}  // namespace roof::onednn
