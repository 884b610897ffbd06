#include "workloads/onednn/convolution/passes.hpp"

#include "workloads/kernels/convolution.hpp"
#include "workloads/kernels/depthwise.hpp"

#include <algorithm>

namespace roof::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

Layouts kernel_layouts(const Convolution& shapes)
{
    const bool wide = kernels::convolution_lanes() == 16;
    const auto map = [&](const Dims& dims) {
        return in_format(dims, wide ? Tag::nChw16c : Tag::nChw8c, shapes.precision);
    };
    return {.source = map(dims_of(shapes.source)),
            .weights = in_format(shapes.weights, wide ? Tag::OIhw16i16o : Tag::OIhw8i8o, Precision::fp32),
            .result = map(shapes.result)};
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
void add_depthwise(const Convolution& shapes, Pass pass, std::vector<Candidate>& all)
{
    const model::Convolution size = size_of(shapes);
    const bool is_depthwise = size.groups == size.source.channels && size.groups == size.result.channels;
    if (!is_depthwise || pass != Pass::backward_weights || !kernels::has_depthwise_gradient(size.window.size) ||
        size.window.dilation > 1 || kernels::convolution_lanes() == 0)
        return;
    all.push_back({.name = "roof:depthwise",
                   .executed = Flops{2.0 * static_cast<double>(model::unpadded_multiply_adds(size))},
                   .vector_bits = 32 * kernels::convolution_lanes(),
                   .is_preferred = true,
                   .is_kernel = true,
                   .layouts = {.source = in_format(dims_of(shapes.source), Tag::nChw16c, Precision::fp32),
                               .weights = in_format(shapes.weights, Tag::Goihw16g, Precision::fp32),
                               .result = in_format(shapes.result, Tag::nChw16c, Precision::fp32)},
                   .append = [size](Program& program, const ConvolutionTensors& tensors) {
                       std::vector<Tensor> used{tensors.source, tensors.weights, tensors.result};
                       if (tensors.has_bias) used.push_back(tensors.bias);
                       program.append(
                           [=] {
                               kernels::depthwise_backward_weights(size, tensors.source.data(), tensors.result.data(),
                                                                   tensors.weights.data(),
                                                                   tensors.has_bias ? tensors.bias.data() : nullptr);
                           },
                           used, "roof:depthwise");
                   }});
}

void add_kernels(const Convolution& shapes, Pass pass, int threads, std::vector<Candidate>& all)
{
    const model::Convolution size = size_of(shapes);
    if (size.groups > 1 || size.window.dilation > 1) return;
    const kernels::ConvolutionShape shape{.batch = size.batch,
                                          .inputs = size.source.channels,
                                          .outputs = size.result.channels,
                                          .height = size.source.height,
                                          .width = size.source.width,
                                          .window = size.window.size,
                                          .stride = size.window.stride,
                                          .padding = size.window.padding};
    for (const kernels::ConvolutionPlan& plan : kernels::convolution_plans(
             pass, shape, {.precision = shapes.precision, .relu = shapes.relu, .threads = threads}))
        all.push_back({.name = plan.name,
                       .algorithm = plan.algorithm,
                       .executed = plan.executed,
                       .vector_bits = 32 * kernels::convolution_lanes(),
                       .is_preferred = true,
                       .is_kernel = true,
                       .layouts = kernel_layouts(shapes),
                       .append = [plan](Program& program, const ConvolutionTensors& tensors) {
                           append_kernel(program, plan, tensors);
                       }});
}

Convolution in_fp32(Convolution shapes)
{
    shapes.source = any(dims_of(shapes.source));
    shapes.precision = Precision::fp32;
    return shapes;
}

}  // namespace

std::vector<Candidate> candidates(const dnnl::engine& engine, const Convolution& shapes, Pass pass, int threads)
{
    std::vector<Candidate> all = library_candidates(engine, shapes, pass, Algorithm::direct);
    add_kernels(shapes, pass, threads, all);
    add_depthwise(shapes, pass, all);
    std::ranges::move(library_candidates(engine, shapes, pass, Algorithm::winograd), std::back_inserter(all));
    if (shapes.precision != Precision::bf16) return all;
    for (const Algorithm algorithm : {Algorithm::direct, Algorithm::winograd}) {
        for (Candidate& candidate : library_candidates(engine, in_fp32(shapes), pass, algorithm)) {
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

model::Convolution size_of(const Convolution& shapes)
{
    const auto map = [](const Dims& dims) -> model::Shape {
        return {static_cast<int>(dims[1]), static_cast<int>(dims[2]), static_cast<int>(dims[3])};
    };
    const Dims source = dims_of(shapes.source);
    const int groups = shapes.weights.size() > 4 ? static_cast<int>(shapes.weights[0]) : 1;
    return {static_cast<int>(source[0]), map(source), map(shapes.result), shapes.window, groups};
}

}  // namespace roof::onednn
