// Convolution, fused with bias and ReLU where an implementation supports that:
//   y[n,o] = b[o] + sum over i and the window of w[o,i] * x[n,i];   dx, dw and db as for any convolution
// With narrow activations, a library writes a narrow gradient of the weights; those of several layers are converted
// together to fp32 in the block of gradients. Between batch norms, a library may also apply the one before with its
// ReLU to what it reads, and sum what it writes for the one behind.
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {
namespace {

/// Whether the unit reads images by space to depth.
bool is_deep(const Builder& build, const Unit& unit)
{
    return build.image_block > 0 && build.is_image(build.source(unit));
}

ConvolutionPass shape_of(const Builder& build, const Unit& unit, Pass pass)
{
    const model::Layer& layer = build.layer(unit);
    const bool whole = pass == Pass::forward || build.choosers.whole_gradients;
    ConvolutionPass shape{model::convolution_of(build.graph, unit.layer, build.settings.batch), pass,
                          build.settings.precision, whole && layer.bias, whole && unit.fused()};
    shape.of_images = build.choosers.reads_images && build.is_image(build.source(unit));
    return is_deep(build, unit) ? space_to_depth(shape) : shape;
}

/// The batch norm that alone reads the convolution, for which that may sum its result; -1 if there is none. In fp32,
/// sums of squares are not precise enough.
int norm_behind(const Builder& build, int layer)
{
    const std::vector<int> reading = readers(build.graph, layer);
    const bool is_normed = build.graph.layer(layer).kind == model::LayerKind::convolution && build.settings.narrow() &&
                           !build.choosers.whole_norms && !build.graph.layer(layer).bias && reading.size() == 1 &&
                           build.graph.layer(reading.front()).kind == model::LayerKind::batch_norm;
    return is_normed ? reading.front() : -1;
}

/// A library's choice with all that the batch norms need, or with less. With a scaled source, at least that is kept.
Choice choose_forward(const Builder& build, ConvolutionPass& shape)
{
    Choice choice = build.choosers.convolution(shape);
    if (choice.fused) return choice;
    const bool less = shape.prologue && shape.statistics;
    shape.bias = shape.relu = shape.statistics = false;
    return less ? build.choosers.convolution(shape) : choice;
}

/// Adds the work of one pass, and the multiply-adds that its algorithm executes; those on padding are not counted.
void account(Builder& build, const Unit& unit, const model::PassWork& work, const Choice& choice)
{
    Work done = to_work(work);
    done.executed = choice.executed;
    if (choice.winograd_tile > 0) {
        const long long products = model::winograd_multiply_adds(
            model::convolution_of(build.graph, unit.layer, build.settings.batch), choice.winograd_tile);
        done.executed = Flops{2.0 * static_cast<double>(products)};
    }
    if (is_deep(build, unit)) {
        const ConvolutionPass read = shape_of(build, unit, Pass::forward);
        const double outputs = 1.0 * read.batch * read.result.channels * read.result.height * read.result.width;
        done.executed = Flops{2.0 * outputs * read.window.size * read.window.size * read.source.channels};
    }
    build.add_convolution(done, choice.algorithm);
}

/// Appends the operation with its plan and scratch memory.
void append(Builder& build, const Choice& choice, Convolve operation)
{
    operation.plan = choice.plan;
    operation.workspace = build.program.scratch(choice.workspace);
    build.program.append(operation, choice.implementation);
}

/// Returns the gradient as it is written.
Tensor backward_weights(Builder& build, const Unit& unit, const Output& given, const Tensor& gradient)
{
    ConvolutionPass shape = shape_of(build, unit, Pass::backward_weights);
    shape.prologue = given.scaled;
    const Choice choice = build.choosers.convolution(shape);
    account(build, unit, build.work(unit.layer).backward_weights, choice);
    Tensor written = build.parameters.of(unit.layer, false).gradient;
    if (build.writes_narrow_gradients()) {
        written.precision = build.settings.storage();
        written.begin = 0;
        written = build.program.tensor(written);
    }
    append(build, choice,
           {.shape = shape,
            .source = given.tensor,
            .weights = written,
            .result = gradient,
            .bias = shape.bias ? build.parameters.of(unit.layer, true).gradient : Tensor{},
            .scale = given.scaled ? given.channels.scale : Tensor{},
            .shift = given.scaled ? given.channels.shift : Tensor{}});
    if (is_deep(build, unit))
        build.program.append(ClearUnused{written, build.parameters.of(unit.layer, false).depth}, "roof:clear_unused");
    return written;
}

Tensor backward_data(Builder& build, const Unit& unit, const Tensor& gradient)
{
    const ConvolutionPass shape = shape_of(build, unit, Pass::backward_data);
    const Choice choice = build.choosers.convolution(shape);
    account(build, unit, build.work(unit.layer).backward_data, choice);
    const Tensor written = build.program.tensor(build.map(build.source(unit)));
    append(build, choice,
           {.shape = shape,
            .source = written,
            .weights = build.parameters.of(unit.layer, false).read,
            .result = gradient});
    return written;
}

void backward(Builder& build, const Unit& unit, const Output& given)
{
    build.begin(unit, Phase::backward);
    const Tensor gradient = gradient_of_unit(build, unit);
    const Tensor of_weights = backward_weights(build, unit, given, gradient);
    if (!build.is_image(build.source(unit))) build.give(build.source(unit), {backward_data(build, unit, gradient)});
    if (build.writes_narrow_gradients()) return build.widen_later(of_weights, unit.layer);
    if (build.choosers.whole_gradients && build.layer(unit).bias) build.completed(unit.layer, true);
    build.completed(unit.layer, false);
}

}  // namespace

bool is_by_moments(const Builder& build, int convolution)
{
    const int norm = norm_behind(build, convolution);
    const bool is_summed = norm >= 0 && is_for_a_sum(build.graph, norm);
    const int from = build.graph.layer(convolution).inputs.front();
    if (!build.choosers.moments || !is_summed || build.is_image(from) ||
        build.outputs[static_cast<std::size_t>(from)].scaled)
        return false;
    const ConvolutionPass shape = shape_of(build, {.layer = convolution}, Pass::forward);
    return has_moments(shape) && build.choosers.moments(shape);
}

bool reads_scaled(const Builder& build, int layer)
{
    if (norm_behind(build, layer) < 0) return false;
    const auto is_offered = [&](Pass pass, bool statistics) {
        ConvolutionPass shape = shape_of(build, {.layer = layer}, pass);
        shape.prologue = true;
        shape.statistics = statistics;
        return build.choosers.convolution(shape).fused;
    };
    return is_offered(Pass::backward_weights, false) &&
           (is_offered(Pass::forward, true) || is_offered(Pass::forward, false));
}

void convolution(Builder& build, const Unit& unit)
{
    build.begin(unit, Phase::forward);
    const Output given = build.output(build.source(unit));
    const ConvolutionPass whole = shape_of(build, unit, Pass::forward);
    ConvolutionPass shape = whole;
    shape.prologue = given.scaled;
    const bool by_moments = is_by_moments(build, unit.layer);
    shape.statistics = norm_behind(build, unit.layer) >= 0 && !by_moments;
    const Choice choice = choose_forward(build, shape);
    account(build, unit, build.work(unit.layer).forward, choice);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);

    const Tensor result = build.program.tensor(build.map(unit.layer));
    const Tensor bias = whole.bias ? build.parameters.of(unit.layer, true).read : Tensor{};
    const bool is_apart = (whole.bias || whole.relu) && !shape.bias && !shape.relu;
    Output& output = build.output(unit.layer);
    if (shape.statistics) {
        output.sum = build.program.tensor(build.channels_of(unit.layer));
        output.squares = build.program.tensor(build.channels_of(unit.layer));
    }
    append(build, choice,
           {.shape = shape,
            .source = given.tensor,
            .weights = build.parameters.of(unit.layer, false).read,
            .result = result,
            .bias = is_apart ? Tensor{} : bias,
            .scale = given.scaled ? given.channels.scale : Tensor{},
            .shift = given.scaled ? given.channels.shift : Tensor{},
            .sum = output.sum,
            .squares = output.squares});
    if (is_apart) build.program.append(AddBias{result, bias, unit.fused()}, "roof:bias");
    build.put(unit, result);
    if (by_moments) return;  // the batch norm finds the gradients of both
    build.tape.emplace_back([=, &build] { backward(build, unit, given); });
}

}  // namespace roof::ir
