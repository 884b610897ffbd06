#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/winograd/maps.hpp"
#include "workloads/kernels/winograd/weights.hpp"
#include "workloads/model/work.hpp"

namespace roof::kernels {
namespace {

const WinogradLoops& widest()
{
    return convolution_lanes() == winograd_avx512.lanes ? winograd_avx512 : winograd_avx2;
}

/// A tile that an edge cuts is computed only at the points that its results need.
Flops executed_flops(const ConvolutionShape& shape)
{
    const model::Shape source{shape.inputs, shape.height, shape.width};
    const model::Shape result{shape.outputs, shape.height, shape.width};
    const long long multiply_adds = model::winograd_multiply_adds({shape.batch, source, result, {3, 1, 1}},
                                                                  winograd_tile, model::CutTiles::by_need);
    return {2.0 * static_cast<double>(multiply_adds)};
}

}  // namespace

const char* winograd_implementation()
{
    return widest().name;
}

bool winograd_suits(const ConvolutionShape& shape)
{
    const int wide = 2 * convolution_lanes();
    return wide > 0 && shape.inputs % wide == 0 && shape.outputs % wide == 0;
}

std::optional<ConvolutionPlan> plan_winograd(Pass pass, const ConvolutionShape& shape,
                                             const ConvolutionOptions& options)
{
    const bool is_suited = options.precision == Precision::fp32 && shape.window == 3 && shape.stride == 1 &&
                           shape.padding == 1 && winograd_suits(shape);
    if (!is_suited) return std::nullopt;
    const WinogradLoops& loops = widest();
    ConvolutionPlan plan{
        .name = loops.name, .algorithm = Algorithm::winograd, .executed = executed_flops(shape), .run = {}};
    if (pass == Pass::forward) {
        const WinogradMaps maps(loops, shape, shape.inputs, shape.outputs, options.threads);
        plan.workspace = maps.scratch();
        plan.run = [maps, make = loops.weights, relu = options.relu](const ConvolutionOperands& t) {
            maps.run(t.source.as<float>(), t.weights, make, {t.bias, relu}, t.result.as<float>(), t.workspace);
        };
    } else if (pass == Pass::backward_data) {
        const WinogradMaps maps(loops, shape, shape.outputs, shape.inputs, options.threads);
        plan.workspace = maps.scratch();
        plan.run = [maps, make = loops.turned_weights](const ConvolutionOperands& t) {
            maps.run(t.result.as<float>(), t.weights, make, {}, t.source.as<float>(), t.workspace);
        };
    } else {
        const WinogradWeights gradient(loops, shape, options.threads);
        plan.workspace = gradient.scratch();
        plan.run = [gradient](const ConvolutionOperands& t) {
            gradient.run(t.source.as<float>(), t.result.as<float>(), t.weights, t.bias, t.workspace);
        };
    }
    return plan;
}

}  // namespace roof::kernels
