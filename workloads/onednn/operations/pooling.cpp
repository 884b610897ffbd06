// Pooling, by oneDNN. Max:  y = the maximum of the window; oneDNN stores its position, which receives dy.
// Average:  y = the mean of the window; each position receives dy / size^2. Padding counts as zeros.
// Resize:  y = the mean of four neighbours, weighted by their distance.
#include "workloads/kernels/convolution.hpp"
#include "workloads/onednn/operations/binding.hpp"

namespace roof::onednn {
namespace {

void forward(Binding& to, const Tensor& x, const ir::Tensor& result, const PoolingPasses& passes)
{
    const Desc winners = passes.forward.layout_of(DNNL_ARG_WORKSPACE);
    const Pooling& made =
        to.poolings[result.block] = {passes, winners.get_size() > 0 ? to.program.tensor(winners) : Tensor{}};
    const Tensor y = to.write(result, passes.forward.layout_of(DNNL_ARG_DST));
    to.program.append(passes.forward, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_WORKSPACE, made.winners}});
}

/// In blocks of channels where oneDNN has only a loop over numbers for the layout of the source.
void pool(Binding& to, const ir::Tensor& source, const ir::Tensor& result, const model::Window& window,
          dnnl::algorithm algorithm)
{
    const auto passes_of = [&](const Tensor& x) {
        return describe_pooling(to.program.engine(), x.desc(), dims_of(result), window, algorithm);
    };
    const Tensor found = to.read(source);
    const PoolingPasses passes = passes_of(found);
    if (passes.forward.name.starts_with("jit")) return forward(to, found, result, passes);
    const auto blocks =
        kernels::convolution_lanes() == 16 ? dnnl::memory::format_tag::nChw16c : dnnl::memory::format_tag::nChw8c;
    const Tensor x = to.read(source, in_format(dims_of(source), blocks, found.precision()));
    forward(to, x, result, passes_of(x));
}

/// `given`: the gradient of the result, in whose layout it is read.
void backward(Binding& to, const ir::Tensor& source, const ir::Tensor& given)
{
    const auto& [passes, winners] = to.poolings.at(given.like);
    const Tensor dy = to.read(given);
    const Tensor dx = to.write(source, passes.backward.layout_of(DNNL_ARG_DIFF_SRC));
    to.program.append(passes.backward,
                      {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}, {DNNL_ARG_WORKSPACE, winners}});
}

}  // namespace

void bind(Binding& to, const ir::MaxPool& operation)
{
    pool(to, operation.source, operation.result, operation.window, dnnl::algorithm::pooling_max);
}

void bind(Binding& to, const ir::MaxPoolGradient& operation)
{
    backward(to, operation.source, operation.result);
}

void bind(Binding& to, const ir::AveragePool& operation)
{
    pool(to, operation.source, operation.result, operation.window, dnnl::algorithm::pooling_avg_include_padding);
}

void bind(Binding& to, const ir::AveragePoolGradient& operation)
{
    backward(to, operation.source, operation.result);
}

void bind(Binding& to, const ir::Resize& operation)
{
    const Tensor x = to.read(operation.source);
    forward(to, x, operation.result, describe_resampling(to.program.engine(), x.desc(), dims_of(operation.result)));
}

void bind(Binding& to, const ir::ResizeGradient& operation)
{
    backward(to, operation.source, operation.result);
}

}  // namespace roof::onednn
