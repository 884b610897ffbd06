// oneDNN 3.x: a primitive's descriptor is made from the shapes directly.
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

/// Creates a new description per implementation, because advancing a description also advances its copies.
template <class Describe>
auto implementations_of(const Describe& describe) -> std::vector<decltype(describe())>
{
    std::vector<decltype(describe())> all;
    try {
        for (int place = 0;; ++place) {
            auto description = describe();
            for (int skipped = 0; skipped < place; ++skipped) {
                if (!description.next_impl()) return all;
            }
            if (is_reference(description.impl_info_str()) && !all.empty()) return all;
            all.push_back(description);
        }
    } catch (const dnnl::error& error) {
        if (error.status != dnnl_unimplemented) throw;
        return all;
    }
}

}  // namespace

Dims dims_of(const Desc& desc)
{
    return desc.get_dims();
}

dnnl::memory::data_type data_type_of(const Desc& desc)
{
    return desc.get_data_type();
}

Blocking blocking_of(const Desc& desc)
{
    if (desc.get_format_kind() != dnnl::memory::format_kind::blocked) return {};
    return {desc.get_strides(), desc.get_inner_blks(), desc.get_inner_idxs()};
}

dnnl::primitive_attr attributes(bool relu)
{
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (relu) {
        dnnl::post_ops after;
        after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
        attributes.set_post_ops(after);
    }
    return attributes;
}

std::vector<ForwardPass> forward_passes(const dnnl::engine& engine, const Convolution& shapes,
                                        dnnl::algorithm algorithm)
{
    const Dims strides = square(shapes.window.stride);
    const Dims padding = square(shapes.window.padding);
    return implementations_of([&] {
        return dnnl::convolution_forward::primitive_desc(
            engine, prop_kind::forward_training, algorithm, shapes.source, any(shapes.weights, shapes.precision),
            bias_of(shapes), any(shapes.result, shapes.precision), strides, padding, padding, attributes(shapes.relu));
    });
}

std::vector<BackwardDataPass> backward_data_passes(const dnnl::engine& engine, const Convolution& shapes,
                                                   dnnl::algorithm algorithm, const ForwardPass& forward)
{
    const Dims strides = square(shapes.window.stride);
    const Dims padding = square(shapes.window.padding);
    return implementations_of([&] {
        return dnnl::convolution_backward_data::primitive_desc(
            engine, algorithm, any(dims_of(shapes.source), shapes.precision), any(shapes.weights, shapes.precision),
            any(shapes.result, shapes.precision), strides, padding, padding, forward, attributes());
    });
}

std::vector<BackwardWeightsPass> backward_weights_passes(const dnnl::engine& engine, const Convolution& shapes,
                                                         dnnl::algorithm algorithm, const ForwardPass& forward)
{
    const Dims strides = square(shapes.window.stride);
    const Dims padding = square(shapes.window.padding);
    return implementations_of([&] {
        return dnnl::convolution_backward_weights::primitive_desc(engine, algorithm, shapes.source, any(shapes.weights),
                                                                  bias_of(shapes), any(shapes.result, shapes.precision),
                                                                  strides, padding, padding, forward, attributes());
    });
}

PoolingPasses describe_pooling(const dnnl::engine& engine, const Desc& source, const Dims& result,
                               const model::Window& window, dnnl::algorithm algorithm)
{
    const Dims strides = square(window.stride);
    const Dims kernel = square(window.size);
    const Dims padding = square(window.padding);
    const Dims undilated = square(0);
    const dnnl::pooling_forward::primitive_desc forward(engine, prop_kind::forward_training, algorithm, source,
                                                        any(result, precision_of(source)), strides, kernel, undilated,
                                                        padding, padding, attributes());
    return {forward,
            {engine, algorithm, source, forward.dst_desc(), strides, kernel, undilated, padding, padding, forward,
             attributes()}};
}

}  // namespace roof::onednn
