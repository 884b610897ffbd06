// The engine's interface to oneDNN. Only dnnl.cpp depends on the library's version, 2.x or 3.x.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/precision.hpp"
#include "workloads/model/convolution.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <string>
#include <vector>

namespace roof::kernels {
}

namespace roof::onednn {

using namespace kernels;  // used by all layers

using model::ConvolutionPass;
using model::Pass;

using Dim = dnnl::memory::dim;
using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

/// "2.6.3"
std::string library_version();

/// Dense, in the order of the dimensions (nchw, oihw, [out][in], [channels]).
Desc plain(const Dims& dims, Precision precision = Precision::fp32);
/// Rows `apart` numbers apart.
Desc rows(const Dims& dims, Dim apart, Precision precision = Precision::fp32);
/// In this oneDNN layout.
Desc in_format(const Dims& dims, dnnl::memory::format_tag format, Precision precision);
/// In the layout that the primitive prefers.
Desc any(const Dims& dims, Precision precision = Precision::fp32);
Dims dims_of(const Desc& desc);
dnnl::memory::data_type data_type_of(const Desc& desc);
/// fp32 or bf16; throws std::logic_error otherwise.
Precision precision_of(const Desc& desc);

/// How a oneDNN layout nests dimensions. `strides` is empty for an opaque layout.
struct Blocking {
    Dims strides;
    Dims blocks;      ///< sizes of the innermost blocks
    Dims block_dims;  ///< the dimension that each block divides
};
Blocking blocking_of(const Desc& desc);
/// "fp32 aBcd16b", as oneDNN names its layouts: dimensions from outermost to innermost, blocked ones in capitals.
std::string layout_name(const Desc& desc);

/// Attributes of every primitive: the caller owns the scratchpad. `relu` is applied before the result is stored.
dnnl::primitive_attr attributes(bool relu = false);

/// {images, channels, height, width}
Dims dims_of(int batch, const model::Shape& map);
/// [o][i][y][x], or with groups [g][o / g][i / g][y][x]
Dims weights_of(const model::Convolution& shape);

using ForwardPass = dnnl::convolution_forward::primitive_desc;
using BackwardDataPass = dnnl::convolution_backward_data::primitive_desc;
using BackwardWeightsPass = dnnl::convolution_backward_weights::primitive_desc;

/// All implementations of a pass, in oneDNN's order of preference. Reference code is included only if there is nothing
/// else. Empty if oneDNN has no such algorithm for the shape, of whose passes all are asked with the same `shape`. Maps and
/// weights are in its precision, gradients of weights in fp32; the source in the layout that the implementation prefers, or
/// plain. The backward passes take any forward pass of the shape.
std::vector<ForwardPass> forward_passes(const dnnl::engine& engine, const ConvolutionPass& shape,
                                        dnnl::algorithm algorithm, bool is_plain);
std::vector<BackwardDataPass> backward_data_passes(const dnnl::engine& engine, const ConvolutionPass& shape,
                                                   dnnl::algorithm algorithm, const ForwardPass& forward);
std::vector<BackwardWeightsPass> backward_weights_passes(const dnnl::engine& engine, const ConvolutionPass& shape,
                                                         dnnl::algorithm algorithm, const ForwardPass& forward,
                                                         bool is_plain);

/// True if oneDNN has a Winograd convolution of this precision on this machine; tested with a suitable shape.
bool library_offers_winograd(Precision precision);

/// A layer without weights: the forward pass and the backward pass to its source.
template <class Forward, class Backward>
struct Pair {
    typename Forward::primitive_desc forward;
    typename Backward::primitive_desc backward;
};
using PoolingPasses = Pair<dnnl::pooling_forward, dnnl::pooling_backward>;

PoolingPasses describe_pooling(const dnnl::engine& engine, const Desc& source, const Dims& result,
                               const model::Window& window, dnnl::algorithm algorithm);

/// True for oneDNN's slow reference implementations.
inline bool is_reference(const std::string& implementation)
{
    return implementation.starts_with("ref");
}

/// Runs `work` and converts oneDNN's error to Error: "`what`: could not create a primitive descriptor".
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
