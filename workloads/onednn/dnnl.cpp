// For oneDNN 2.x: every primitive's descriptor is made from the descriptor of its operation.
#include "workloads/onednn/dnnl.hpp"

namespace roof::onednn {
namespace {

using dnnl::prop_kind;

Dims square(int extent)
{
    return {extent, extent};
}

}  // namespace

std::string library_version()
{
    const dnnl::version_t& version = *dnnl::version();
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
}

Desc plain(const Dims& dims)
{
    Dims strides(dims.size(), 1);
    for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
    return {dims, dnnl::memory::data_type::f32, strides};
}

Desc any(const Dims& dims)
{
    return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

dnnl::primitive_attr attributes(bool relu)
{
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (relu) {
        dnnl::post_ops after;
        after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
        attributes.set_post_ops(after);
    }
    return attributes;
}

ConvolutionPasses describe_convolution(const dnnl::engine& engine, const Contraction& shapes, dnnl::algorithm algorithm)
{
    const Desc weights = any(shapes.weights);
    const Desc bias = shapes.bias.empty() ? Desc{} : plain(shapes.bias);
    const Desc result = any(shapes.result);
    const Dims strides = square(shapes.window.stride);
    const Dims padding = square(shapes.window.padding);
    const Desc gradient = any(shapes.source.dims());

    const dnnl::convolution_forward::primitive_desc forward(
        {prop_kind::forward_training, algorithm, shapes.source, weights, bias, result, strides, padding, padding},
        attributes(shapes.relu), engine);
    return {forward,
            {{algorithm, gradient, weights, result, strides, padding, padding}, attributes(), engine, forward},
            {{algorithm, forward.src_desc(), weights, bias, result, strides, padding, padding},
             attributes(),
             engine,
             forward}};
}

LinearPasses describe_linear(const dnnl::engine& engine, const Contraction& shapes)
{
    const Desc bias = plain(shapes.bias);
    const Desc result = plain(shapes.result);
    const dnnl::inner_product_forward::primitive_desc forward(
        {prop_kind::forward_training, shapes.source, any(shapes.weights), bias, result}, attributes(shapes.relu),
        engine);
    const Desc weights = forward.weights_desc();
    return {forward,
            {{shapes.source, weights, result}, attributes(), engine, forward},
            {{shapes.source, weights, bias, result}, attributes(), engine, forward}};
}

PoolingPasses describe_pooling(const dnnl::engine& engine, const Desc& source, const Dims& result,
                               const model::Window& window, dnnl::algorithm algorithm)
{
    const Dims strides = square(window.stride);
    const Dims kernel = square(window.size);
    const Dims padding = square(window.padding);
    const dnnl::pooling_forward::primitive_desc forward(
        {prop_kind::forward_training, algorithm, source, any(result), strides, kernel, padding, padding}, attributes(),
        engine);
    return {
        forward,
        {{algorithm, source, forward.dst_desc(), strides, kernel, padding, padding}, attributes(), engine, forward}};
}

BatchNormPasses describe_batch_norm(const dnnl::engine& engine, const Desc& source, float epsilon, bool relu)
{
    using Flags = dnnl::normalization_flags;
    const Flags flags = Flags::use_scale | Flags::use_shift | (relu ? Flags::fuse_norm_relu : Flags::none);
    const dnnl::batch_normalization_forward::primitive_desc forward(
        {prop_kind::forward_training, source, epsilon, flags}, attributes(), engine);
    return {forward, {{prop_kind::backward, source, source, epsilon, flags}, attributes(), engine, forward}};
}

}  // namespace roof::onednn
