#include "workloads/kernels/convolution.hpp"

#include "workloads/kernels/direct/gradient.hpp"
#include "workloads/kernels/direct/maps.hpp"
#include "workloads/kernels/isa/isa.hpp"
#include "workloads/kernels/winograd/maps.hpp"
#include "workloads/kernels/winograd/weights.hpp"
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

/// `Maps` computes forward and backward_data, `Gradient` backward_weights.
template <class Maps, class Gradient, class Loops>
void add_workings(ConvolutionPlan& plan, const Loops& loops, Pass pass, const ConvolutionShape& shape,
                  const ConvolutionOptions& options)
{
    if (pass == Pass::backward_weights) {
        const Gradient gradient(loops, shape, options);
        plan.workspace = gradient.scratch();
        plan.run = [gradient](const ConvolutionOperands& t) {
            gradient.run(t.source, t.result, t.weights, t.bias, t.workspace);
        };
        return;
    }
    ConvolutionOptions of_pass = options;
    of_pass.relu = options.relu && pass == Pass::forward;
    const Maps maps(loops, pass, shape, of_pass);
    plan.workspace = maps.scratch();
    plan.run = [maps, is_forward = pass == Pass::forward](const ConvolutionOperands& t) {
        if (is_forward)
            maps.run(t.source, t.weights, t.bias, t.result, t.workspace);
        else
            maps.run(t.result, t.weights, nullptr, t.source, t.workspace);
    };
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
    const bool is_direct = shape.window <= direct_largest_window && shape.stride <= direct_largest_stride;
    for (const DirectLoops* loops : direct_loops_here()) {
        const bool is_dot = loops->numbers > 1;
        if (!is_direct || loops->lanes != lanes || (is_dot && options.precision != Precision::bf16)) continue;
        if (is_dot && pass == Pass::backward_weights && shape.batch == 1) continue;  // it multiplies pairs of images
        // Products with padding are skipped.
        plans.push_back({.name = loops->name, .executed = flops(model::unpadded_multiply_adds(model_of(shape)))});
        add_workings<DirectMaps, DirectGradient>(plans.back(), *loops, pass, shape, options);
    }
    if (shape.window == 3 && shape.stride == 1 && shape.padding == 1) {
        const WinogradLoops& loops = *winograd_loops_here().front();
        // A tile that an edge cuts is computed only at the points that its results need.
        const Flops executed =
            flops(model::winograd_multiply_adds(model_of(shape), winograd_tile, model::CutTiles::by_need));
        plans.push_back({.name = loops.name, .algorithm = Algorithm::winograd, .executed = executed});
        add_workings<WinogradMaps, WinogradWeights>(plans.back(), loops, pass, shape, options);
    }
    return plans;
}

}  // namespace roof::kernels
