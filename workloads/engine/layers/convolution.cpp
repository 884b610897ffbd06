// Convolution with bias and ReLU:
//   y[n,o] = b[o] + sum over i and the window of w[o,i] * x[n,i];   dx, dw and db as for any convolution
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {
namespace {

/// Whether the unit reads images by space to depth.
bool is_deep(const Builder& build, const Unit& unit)
{
    return build.parameters.of(unit.layer, false).depth.block > 0;
}

ConvolutionPass shape_of(const Builder& build, const Unit& unit, Pass pass)
{
    const bool forward = pass == Pass::forward;
    ConvolutionPass shape{model::convolution_of(build.graph, unit.layer, build.settings.batch), pass,
                          build.settings.precision, forward && build.layer(unit).bias, forward && unit.fused()};
    shape.of_images = build.outputs[static_cast<std::size_t>(build.source(unit))].block == build.images.block;
    return is_deep(build, unit) ? space_to_depth(shape) : shape;
}

/// Appends the pass with its work. Of images by space to depth, the products with zeros are executed, too.
void append(Builder& build, const Unit& unit, const Convolve& pass)
{
    Work work = to_work(build.work(unit.layer).of(pass.shape.pass));
    if (is_deep(build, unit)) {
        const ConvolutionPass read = shape_of(build, unit, Pass::forward);
        const double outputs = 1.0 * read.batch * read.result.channels * read.result.height * read.result.width;
        work.executed = Flops{2.0 * outputs * read.window.size * read.window.size * read.source.channels};
    }
    build.list.append(pass, {}, work);
}

void differentiate(Builder& build, const Unit& unit, const Tensor& source)
{
    build.begin(unit, Phase::backward);
    const Tensor gradient = gradient_of_unit(build, unit);
    const Trained& weights = build.parameters.of(unit.layer, false);
    append(build, unit,
           {.shape = shape_of(build, unit, Pass::backward_weights),
            .source = source,
            .weights = weights.gradient,
            .result = gradient});
    if (is_deep(build, unit)) build.list.append(ClearUnused{weights.gradient, weights.depth}, "roof:clear_unused");
    if (!build.is_image(build.source(unit))) {
        const Tensor to_source = build.list.tensor(build.map(build.source(unit)));
        append(build, unit,
               {.shape = shape_of(build, unit, Pass::backward_data),
                .source = to_source,
                .weights = weights.read,
                .result = gradient});
        build.give(build.source(unit), to_source);
    }
    build.completed(unit.layer, false);
}

}  // namespace

void convolution(Builder& build, const Unit& unit)
{
    build.begin(unit, Phase::forward);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);
    const Tensor source = build.input(unit);
    const Tensor result = build.list.tensor(build.map(unit.layer));
    append(build, unit,
           {.shape = shape_of(build, unit, Pass::forward),
            .source = source,
            .weights = build.parameters.of(unit.layer, false).read,
            .result = result,
            .bias = build.layer(unit).bias ? build.parameters.of(unit.layer, true).read : Tensor{}});
    build.put(unit, result);
    build.tape.emplace_back([=, &build] { differentiate(build, unit, source); });
}

}  // namespace roof::ir
