#include "workloads/kernels/convolution.hpp"

#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/isa/isa.hpp"
#include "workloads/kernels/winograd/isa.hpp"
#include "workloads/model/work.hpp"

namespace roof::kernels {
namespace {

model::Convolution model_of(const ConvolutionShape& shape)
{
    return {.batch = shape.batch,
            .source = {shape.inputs, shape.height, shape.width},
            .result = {shape.outputs, shape.result_height(), shape.result_width()},
            .window = {shape.window, shape.stride, shape.padding}};
}

Flops flops(long long multiply_adds)
{
    return {2.0 * static_cast<double>(multiply_adds)};
}

}  // namespace

int convolution_lanes()
{
    const Isa widest = widest_isa();
    return widest >= Isa::avx512 ? 16 : widest == Isa::avx2 ? 8 : 0;
}

std::vector<ConvolutionPlan> convolution_plans(Pass pass, const ConvolutionShape& shape,
                                               const ConvolutionOptions& options)
{
    std::vector<ConvolutionPlan> plans;
    const int lanes = convolution_lanes();
    if (lanes == 0 || shape.inputs % (2 * lanes) != 0 || shape.outputs % (2 * lanes) != 0) return plans;
    const bool is_gradient = pass == Pass::backward_weights;
    const bool is_direct = shape.window <= direct_largest_window && shape.stride <= direct_largest_stride;
    for (const DirectLoops* loops : direct_loops_here()) {
        const bool is_dot = loops->numbers > 1;
        if (!is_direct || loops->lanes != lanes || (is_dot && options.precision != Precision::bf16)) continue;
        if (is_dot && is_gradient && shape.batch == 1) continue;  // it multiplies pairs of images
        plans.push_back(is_gradient ? plan_direct_gradient(*loops, shape, options)
                                    : plan_direct_maps(*loops, pass, shape, options));
        // Products with padding are skipped.
        plans.back().executed = flops(model::unpadded_multiply_adds(model_of(shape)));
    }
    if (shape.window == 3 && shape.stride == 1 && shape.padding == 1) {
        const WinogradLoops& loops = *winograd_loops_here().front();
        plans.push_back(is_gradient ? plan_winograd_gradient(loops, shape, options)
                                    : plan_winograd_maps(loops, pass, shape, options));
        plans.back().algorithm = Algorithm::winograd;
        // A tile that an edge cuts is computed only at the points that its results need.
        plans.back().executed =
            flops(model::winograd_multiply_adds(model_of(shape), winograd_tile, model::CutTiles::by_need));
    }
    return plans;
}

}  // namespace roof::kernels
