// oneDNN 2.x: a primitive's descriptor is made from the descriptor of its operation.
#include "workloads/onednn/program/dnnl.hpp"

#include <stdexcept>

namespace roof::onednn {
namespace {

using dnnl::prop_kind;

Dims square(int extent)
{
    return {extent, extent};
}

Desc bias_of(const Convolution& shapes)
{
    return shapes.bias.empty() ? Desc{} : plain(shapes.bias);
}

/// The operation must outlive its implementations, because oneDNN keeps only its address.
template <class Pass, class... Hint>
std::vector<typename Pass::primitive_desc> implementations_of(const typename Pass::desc& operation,
                                                              const dnnl::primitive_attr& attributes,
                                                              const dnnl::engine& engine, const Hint&... forward)
{
    std::vector<typename Pass::primitive_desc> all;
    typename Pass::primitive_desc description(operation, attributes, engine, forward...);
    do {
        if (is_reference(description.impl_info_str()) && !all.empty()) break;
        all.push_back(description);
    } while (description.next_impl());
    return all;
}

/// Returns the result of `make`, or nothing if oneDNN does not support the operation.
template <class Make>
auto or_none(const Make& make) -> decltype(make())
{
    try {
        return make();
    } catch (const dnnl::error& error) {
        if (error.status != dnnl_unimplemented) throw;
        return {};
    }
}

}  // namespace

Dims dims_of(const Desc& desc)
{
    return desc.dims();
}

dnnl::memory::data_type data_type_of(const Desc& desc)
{
    return desc.data_type();
}

Blocking blocking_of(const Desc& desc)
{
    if (desc.data.format_kind != dnnl_blocked) return {};
    const dnnl_blocking_desc_t& of = desc.data.format_desc.blocking;
    return {{of.strides, of.strides + desc.data.ndims},
            {of.inner_blks, of.inner_blks + of.inner_nblks},
            {of.inner_idxs, of.inner_idxs + of.inner_nblks}};
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

std::vector<ForwardPass> forward_passes(const dnnl::engine& engine, const Convolution& shapes,
                                        dnnl::algorithm algorithm)
{
    const Dims strides = square(shapes.window.stride);
    const Dims padding = square(shapes.window.padding);
    return or_none([&] {
        return implementations_of<dnnl::convolution_forward>(
            {prop_kind::forward_training, algorithm, shapes.source, any(shapes.weights, shapes.precision),
             bias_of(shapes), any(shapes.result, shapes.precision), strides, padding, padding},
            attributes(shapes.relu), engine);
    });
}

std::vector<BackwardDataPass> backward_data_passes(const dnnl::engine& engine, const Convolution& shapes,
                                                   dnnl::algorithm algorithm, const ForwardPass& forward)
{
    const Dims strides = square(shapes.window.stride);
    const Dims padding = square(shapes.window.padding);
    return or_none([&] {
        return implementations_of<dnnl::convolution_backward_data>(
            {algorithm, any(shapes.source.dims(), shapes.precision), any(shapes.weights, shapes.precision),
             any(shapes.result, shapes.precision), strides, padding, padding},
            attributes(), engine, forward);
    });
}

std::vector<BackwardWeightsPass> backward_weights_passes(const dnnl::engine& engine, const Convolution& shapes,
                                                         dnnl::algorithm algorithm, const ForwardPass& forward)
{
    const Dims strides = square(shapes.window.stride);
    const Dims padding = square(shapes.window.padding);
    return or_none([&] {
        return implementations_of<dnnl::convolution_backward_weights>(
            {algorithm, shapes.source, any(shapes.weights), bias_of(shapes), any(shapes.result, shapes.precision),
             strides, padding, padding},
            attributes(), engine, forward);
    });
}

PoolingPasses describe_pooling(const dnnl::engine& engine, const Desc& source, const Dims& result,
                               const model::Window& window, dnnl::algorithm algorithm)
{
    const Dims strides = square(window.stride);
    const Dims kernel = square(window.size);
    const Dims padding = square(window.padding);
    const dnnl::pooling_forward::primitive_desc forward(
        {prop_kind::forward_training, algorithm, source, any(result, precision_of(source)), strides, kernel, padding,
         padding},
        attributes(), engine);
    return {
        forward,
        {{algorithm, source, forward.dst_desc(), strides, kernel, padding, padding}, attributes(), engine, forward}};
}

}  // namespace roof::onednn
