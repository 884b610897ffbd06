#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/direct/maps.hpp"
#include "workloads/kernels/direct/weights_gradient.hpp"
#include "workloads/model/work.hpp"

namespace roof::kernels {
namespace {

/// Null where the machine has neither AVX2 nor AVX-512.
const DirectLoops* widest()
{
    static const DirectLoops* const loops = __builtin_cpu_supports("x86-64-v4")   ? &direct_avx512
                                            : __builtin_cpu_supports("x86-64-v3") ? &direct_avx2
                                                                                  : nullptr;
    return loops;
}

/// Excludes the products with padding, which the kernels skip.
Flops executed_flops(const ConvolutionShape& shape)
{
    const long long multiply_adds =
        model::unpadded_multiply_adds({.batch = shape.batch,
                                       .source = {shape.inputs, shape.height, shape.width},
                                       .result = {shape.outputs, shape.result_height(), shape.result_width()},
                                       .window = {shape.window, shape.stride, shape.padding}});
    return {2.0 * static_cast<double>(multiply_adds)};
}

void plan_maps(ConvolutionPlan& plan, Pass pass, const ConvolutionShape& shape, const ConvolutionOptions& options)
{
    const DirectMaps maps(*widest(), pass, shape, options.threads);
    plan.workspace = maps.scratch();
    if (pass == Pass::forward)
        plan.run = [maps, relu = options.relu](const ConvolutionOperands& t) {
            maps.run(t.source.as<float>(), t.weights, t.bias, relu, t.result.as<float>(), t.workspace);
        };
    else
        plan.run = [maps](const ConvolutionOperands& t) {
            maps.run(t.result.as<float>(), t.weights, nullptr, false, t.source.as<float>(), t.workspace);
        };
}

template <class Element>
void plan_weights(ConvolutionPlan& plan, const WeightsGradientLoops& loops, const ConvolutionShape& shape, int threads)
{
    const WeightsGradient gradient(loops, shape, threads);
    plan.workspace = gradient.scratch();
    plan.run = [gradient](const ConvolutionOperands& t) {
        gradient.run(t.source.as<Element>(), t.result.as<Element>(), t.weights, t.bias, t.workspace);
    };
}

}  // namespace

int convolution_lanes()
{
    return widest() == nullptr ? 0 : widest()->lanes;
}

const char* direct_implementation()
{
    return widest()->name;
}

bool direct_suits(const ConvolutionShape& shape)
{
    const int wide = 2 * convolution_lanes();
    return wide > 0 && shape.inputs % wide == 0 && shape.outputs % wide == 0 && shape.window <= direct_largest_window &&
           shape.stride <= direct_largest_window;
}

bool has_direct_weights_bf16()
{
    return __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512bf16");
}

std::optional<ConvolutionPlan> plan_direct(Pass pass, const ConvolutionShape& shape, const ConvolutionOptions& options)
{
    const bool is_bf16 = options.precision == Precision::bf16;
    const bool has_bf16 = pass == Pass::backward_weights && has_direct_weights_bf16() && shape.batch > 1;
    if (!direct_suits(shape) || (is_bf16 && !has_bf16)) return std::nullopt;
    ConvolutionPlan plan{.name = direct_implementation(), .executed = executed_flops(shape), .run = {}};
    if (pass != Pass::backward_weights) {
        plan_maps(plan, pass, shape, options);
    } else if (is_bf16) {
        plan.name = weights_gradient_bf16.name;
        plan_weights<BFloat16>(plan, weights_gradient_bf16, shape, options.threads);
    } else {
        const WeightsGradientLoops& loops =
            convolution_lanes() == weights_gradient_avx512.lanes ? weights_gradient_avx512 : weights_gradient_avx2;
        plan_weights<float>(plan, loops, shape, options.threads);
    }
    return plan;
}

}  // namespace roof::kernels
