#include "workloads/onednn/convolution/winograd.hpp"

namespace roof::onednn {

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

std::size_t WinogradConvolution::scratch(OwnPass pass) const
{
    const WinogradPass of_loops = pass == OwnPass::forward         ? WinogradPass::forward
                                  : pass == OwnPass::backward_data ? WinogradPass::backward_data
                                                                   : WinogradPass::backward_weights;
    return winograd_scratch(of_loops, shape, threads);
}

void WinogradConvolution::run(OwnPass pass, const OwnTensors& t) const
{
    switch (pass) {
        case OwnPass::forward:
            return winograd_forward(shape, t.source.data(), t.weights.data(), t.bias_data(), relu, t.result.data(),
                                    t.scratch.data(), threads);
        case OwnPass::backward_data:
            return winograd_backward_data(shape, t.result.data(), t.weights.data(), t.source.data(), t.scratch.data(),
                                          threads);
        case OwnPass::backward_weights:
            return winograd_backward_weights(shape, t.source.data(), t.result.data(), t.weights.data(), t.bias_data(),
                                             t.scratch.data(), threads);
    }
}

}  // namespace roof::onednn
