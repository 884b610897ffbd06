// oneDNN as the engine uses it. This pair of files alone knows the library's version: 2.x makes a primitive's descriptor
// out of an operation's descriptor, 3.x does not. A port is a new dnnl.cpp.
#pragma once

#include "ert/base/error.hpp"
#include "workloads/model/graph.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <string>

namespace roof::onednn {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

/// "2.6.3"
std::string library_version();

/// fp32, dense, in the order of the dimensions (nchw, oihw, [out][in], [channels]).
Desc plain(const Dims& dims);
/// fp32, in whatever layout the primitive likes best.
Desc any(const Dims& dims);

/// What every primitive gets: the caller owns the scratchpad. `relu` is applied to the result before it is stored.
dnnl::primitive_attr attributes(bool relu = false);

/// The shapes of a layer with weights. A bias without dimensions is no bias; for a linear layer the window is not used.
struct Contraction {
    Desc source;
    Dims weights;
    Dims bias;
    Dims result;
    model::Window window{};
    bool relu = false;  ///< fused into the forward pass
};

/// The three passes of a layer with weights. Each chose its own layouts.
template <class Forward, class BackwardData, class BackwardWeights>
struct Passes {
    typename Forward::primitive_desc forward;
    typename BackwardData::primitive_desc backward_data;
    typename BackwardWeights::primitive_desc backward_weights;
};
using ConvolutionPasses =
    Passes<dnnl::convolution_forward, dnnl::convolution_backward_data, dnnl::convolution_backward_weights>;
using LinearPasses =
    Passes<dnnl::inner_product_forward, dnnl::inner_product_backward_data, dnnl::inner_product_backward_weights>;

ConvolutionPasses describe_convolution(const dnnl::engine& engine, const Contraction& shapes,
                                       dnnl::algorithm algorithm);
LinearPasses describe_linear(const dnnl::engine& engine, const Contraction& shapes);

/// A layer without weights, or whose weights are a pair per channel: forward, and backward to its source.
template <class Forward, class Backward>
struct Pair {
    typename Forward::primitive_desc forward;
    typename Backward::primitive_desc backward;
};
using PoolingPasses = Pair<dnnl::pooling_forward, dnnl::pooling_backward>;
using BatchNormPasses = Pair<dnnl::batch_normalization_forward, dnnl::batch_normalization_backward>;

PoolingPasses describe_pooling(const dnnl::engine& engine, const Desc& source, const Dims& result,
                               const model::Window& window, dnnl::algorithm algorithm);
/// Training mode, with scale and shift per channel.
BatchNormPasses describe_batch_norm(const dnnl::engine& engine, const Desc& source, float epsilon, bool relu);

/// Runs `work` and turns the library's error into one of ours: "`what`: could not create a primitive descriptor".
template <class Work>
auto converting_errors(const std::string& what, Work work) -> decltype(work())
{
    try {
        return work();
    } catch (const dnnl::error& error) {
        throw Error(what + ": oneDNN " + library_version() + ": " + error.what());
    }
}

}  // namespace roof::onednn
