#include "workloads/kernels/convolution.hpp"

#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/isa/isa.hpp"
#include "workloads/kernels/winograd/isa.hpp"
#include "workloads/model/work.hpp"

namespace roof::kernels {
namespace {

Flops flops(long long multiply_adds)
{
    return {2.0 * static_cast<double>(multiply_adds)};
}

bool is_depthwise(const model::Convolution& of)
{
    return of.groups > 1 && of.groups == of.source.channels && of.groups == of.result.channels;
}

}  // namespace

int convolution_lanes()
{
    const Isa widest = widest_isa();
    return widest >= Isa::avx512 ? 16 : widest == Isa::avx2 ? 8 : 0;
}

std::vector<ConvolutionPlan> convolution_plans(const ConvolutionPass& pass, int threads)
{
    std::vector<ConvolutionPlan> plans;
    const int lanes = convolution_lanes();
    const model::Window& window = pass.window;
    const bool is_gradient = pass.pass == Pass::backward_weights;
    if (lanes == 0 || window.dilation > 1 || !window.is_square()) return plans;
    if (is_depthwise(pass) && is_gradient && (window.size == 3 || window.size == 5 || window.size == 7)) {
        plans.push_back(plan_depthwise_gradient(pass));
        plans.back().executed = flops(model::unpadded_multiply_adds(pass));
    }
    if (pass.groups > 1 || pass.source.channels % (2 * lanes) != 0 || pass.result.channels % (2 * lanes) != 0)
        return plans;
    const bool is_direct = window.size <= direct_largest_window && window.stride <= direct_largest_stride;
    for (const DirectLoops* loops : direct_loops_here()) {
        const bool is_dot = loops->numbers > 1;
        if (!is_direct || loops->lanes != lanes || (is_dot && pass.precision != Precision::bf16)) continue;
        if (is_dot && is_gradient && pass.batch == 1) continue;  // it multiplies pairs of images
        plans.push_back(is_gradient ? plan_direct_gradient(*loops, pass, threads)
                                    : plan_direct_maps(*loops, pass, threads));
        // Products with padding are skipped.
        plans.back().executed = flops(model::unpadded_multiply_adds(pass));
    }
    if (window.size == 3 && window.stride == 1 && window.padding == 1) {
        const WinogradLoops& loops = *winograd_loops_here().front();
        plans.push_back(is_gradient ? plan_winograd_gradient(loops, pass, threads)
                                    : plan_winograd_maps(loops, pass, threads));
        plans.back().algorithm = Algorithm::winograd;
        // A tile that an edge cuts is computed only at the points that its results need.
        plans.back().executed = flops(model::winograd_multiply_adds(pass, winograd_tile, model::CutTiles::by_need));
    }
    return plans;
}

}  // namespace roof::kernels
