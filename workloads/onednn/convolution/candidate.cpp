#include "workloads/onednn/convolution/passes.hpp"

#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/depthwise.hpp"

#include <algorithm>

namespace roof::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

Layouts kernel_layouts(const ConvolutionPass& shape)
{
    const bool wide = kernels::convolution_lanes() == 16;
    const auto map = [&](const model::Shape& of) {
        return in_format(dims_of(shape.batch, of), wide ? Tag::nChw16c : Tag::nChw8c, shape.precision);
    };
    return {.source = map(shape.source),
            .weights = in_format(weights_of(shape), wide ? Tag::OIhw16i16o : Tag::OIhw8i8o, Precision::fp32),
            .result = map(shape.result)};
}

void append_kernel(Program& program, const kernels::ConvolutionPlan& plan, const ConvolutionTensors& tensors)
{
    // A tensor must not be empty.
    const Tensor workspace = program.tensor(plain({static_cast<Dim>(std::max<std::size_t>(1, plan.workspace))}));
    std::vector<Tensor> used{tensors.source, tensors.weights, tensors.result, workspace};
    if (tensors.has_bias) used.push_back(tensors.bias);
    program.append(
        [=] {
            plan.run({.source = tensors.source.elements(),
                      .weights = tensors.weights.data(),
                      .result = tensors.result.elements(),
                      .bias = tensors.has_bias ? tensors.bias.data() : nullptr,
                      .workspace = workspace.data()});
        },
        used, plan.name);
}

Tensor ConvolutionTensors::*written_by(Pass pass)
{
    return pass == Pass::forward         ? &ConvolutionTensors::result
           : pass == Pass::backward_data ? &ConvolutionTensors::source
                                         : &ConvolutionTensors::weights;
}

/// This project's gradient of depthwise weights, in fp32.
void add_depthwise(const ConvolutionPass& shape, std::vector<Candidate>& all)
{
    const bool is_depthwise = shape.groups == shape.source.channels && shape.groups == shape.result.channels;
    if (!is_depthwise || shape.pass != Pass::backward_weights || !kernels::has_depthwise_gradient(shape.window.size) ||
        shape.window.dilation > 1 || kernels::convolution_lanes() == 0)
        return;
    const auto map = [&](const model::Shape& of) {
        return in_format(dims_of(shape.batch, of), Tag::nChw16c, Precision::fp32);
    };
    all.push_back({.name = "roof:depthwise",
                   .executed = Flops{2.0 * static_cast<double>(model::unpadded_multiply_adds(shape))},
                   .vector_bits = 32 * kernels::convolution_lanes(),
                   .is_preferred = true,
                   .is_kernel = true,
                   .layouts = {.source = map(shape.source),
                               .weights = in_format(weights_of(shape), Tag::Goihw16g, Precision::fp32),
                               .result = map(shape.result)},
                   .append = [shape](Program& program, const ConvolutionTensors& tensors) {
                       std::vector<Tensor> used{tensors.source, tensors.weights, tensors.result};
                       if (tensors.has_bias) used.push_back(tensors.bias);
                       program.append(
                           [=] {
                               kernels::depthwise_backward_weights(shape, tensors.source.data(), tensors.result.data(),
                                                                   tensors.weights.data(),
                                                                   tensors.has_bias ? tensors.bias.data() : nullptr);
                           },
                           used, "roof:depthwise");
                   }});
}

void add_kernels(const ConvolutionPass& shape, int threads, std::vector<Candidate>& all)
{
    for (const kernels::ConvolutionPlan& plan : kernels::convolution_plans(shape, threads))
        all.push_back({.name = plan.name,
                       .algorithm = plan.algorithm,
                       .executed = plan.executed,
                       .vector_bits = 32 * kernels::convolution_lanes(),
                       .is_preferred = true,
                       .is_kernel = true,
                       .layouts = kernel_layouts(shape),
                       .append = [plan](Program& program, const ConvolutionTensors& tensors) {
                           append_kernel(program, plan, tensors);
                       }});
}

}  // namespace

std::vector<Candidate> candidates(const dnnl::engine& engine, const ConvolutionPass& shape, int threads, bool is_plain)
{
    std::vector<Candidate> all = library_candidates(engine, shape, Algorithm::direct, is_plain);
    add_kernels(shape, threads, all);
    add_depthwise(shape, all);
    std::ranges::move(library_candidates(engine, shape, Algorithm::winograd, is_plain), std::back_inserter(all));
    if (shape.precision != Precision::bf16) return all;
    ConvolutionPass wide = shape;
    wide.precision = Precision::fp32;
    for (const Algorithm algorithm : {Algorithm::direct, Algorithm::winograd}) {
        for (Candidate& candidate : library_candidates(engine, wide, algorithm, false)) {
            candidate.name += " in fp32";
            all.push_back(std::move(candidate));
        }
    }
    return all;
}

bool offers_winograd(Precision precision)
{
    return kernels::convolution_lanes() > 0 || library_offers_winograd(precision);
}

void append_pass(Program& program, Pass pass, const Candidate& candidate, const ConvolutionTensors& tensors)
{
    Tensor ConvolutionTensors::*const written = written_by(pass);
    ConvolutionTensors own = tensors;
    const auto place = [&](Tensor ConvolutionTensors::*operand, const Desc& layout) {
        if (operand == written && (own.*operand).desc() != layout) own.*operand = program.tensor(layout);
        if (operand != written) own.*operand = program.in_layout(tensors.*operand, layout);
    };
    place(&ConvolutionTensors::source, candidate.layouts.source);
    place(&ConvolutionTensors::weights, candidate.layouts.weights);
    place(&ConvolutionTensors::result, candidate.layouts.result);
    candidate.append(program, own);
    if ((own.*written).block != (tensors.*written).block) program.reorder(own.*written, tensors.*written);
}

}  // namespace roof::onednn
