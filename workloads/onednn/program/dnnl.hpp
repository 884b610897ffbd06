// oneDNN as the engine uses it. This header with its sources alone knows the library's version: 2.x makes a primitive's
// descriptor out of an operation's descriptor (dnnl_2.cpp), 3.x does not (dnnl_3.cpp); the build takes one of the two.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/precision.hpp"
#include "workloads/model/graph.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <string>
#include <vector>

namespace roof::kernels {
}

namespace roof::onednn {

using namespace kernels;  // the layers use them throughout

using Dim = dnnl::memory::dim;
using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

/// "2.6.3"
std::string library_version();

/// In the order of the dimensions (nchw, oihw, [out][in], [channels]), without gaps.
Desc plain(const Dims& dims, Precision precision = Precision::fp32);
/// Rows this many numbers apart.
Desc rows(const Dims& dims, Dim apart, Precision precision = Precision::fp32);
/// In this layout of the library.
Desc in_format(const Dims& dims, dnnl::memory::format_tag format, Precision precision);
/// In whatever layout the primitive likes best.
Desc any(const Dims& dims, Precision precision = Precision::fp32);
Dims dims_of(const Desc& desc);
dnnl::memory::data_type data_type_of(const Desc& desc);
/// fp32 or bf16; throws std::logic_error for anything else.
Precision precision_of(const Desc& desc);

/// "fp32", "bf16", or "bytes" for all else.
std::string precision_name(const Desc& desc);

/// How a layout nests dimensions, as the library keeps it; without strides if it is one that only the library
/// understands.
struct Blocking {
    Dims strides;
    Dims blocks;      ///< sizes of the innermost blocks
    Dims block_dims;  ///< the dimension each of them is cut from
};
Blocking blocking_of(const Desc& desc);
/// "fp32 aBcd16b": dimensions from the outermost to the innermost, cut ones in capitals, as oneDNN names its layouts.
std::string layout_name(const Desc& desc);

/// What every primitive gets: the caller owns the scratchpad. `relu` is applied to the result before it is stored.
dnnl::primitive_attr attributes(bool relu = false);

/// The shapes of a convolution. A bias without dimensions is no bias.
struct Convolution {
    Desc source;
    Dims weights;
    Dims bias;
    Dims result;
    model::Window window{};
    bool relu = false;                      ///< fused into the forward pass
    Precision precision = Precision::fp32;  ///< of source, weights and result; gradients of weights are fp32
};

using ForwardPass = dnnl::convolution_forward::primitive_desc;
using BackwardDataPass = dnnl::convolution_backward_data::primitive_desc;
using BackwardWeightsPass = dnnl::convolution_backward_weights::primitive_desc;

/// All implementations of a pass that the library has, its favourite first; its reference code only where there is
/// nothing else. None if it does not know the algorithm for these shapes. The backward passes take any forward pass
/// of the shapes.
std::vector<ForwardPass> forward_passes(const dnnl::engine& engine, const Convolution& shapes,
                                        dnnl::algorithm algorithm);
std::vector<BackwardDataPass> backward_data_passes(const dnnl::engine& engine, const Convolution& shapes,
                                                   dnnl::algorithm algorithm, const ForwardPass& forward);
std::vector<BackwardWeightsPass> backward_weights_passes(const dnnl::engine& engine, const Convolution& shapes,
                                                         dnnl::algorithm algorithm, const ForwardPass& forward);

/// Whether the library has a Winograd convolution of this precision for this machine, tried on a shape that suits it.
bool library_offers_winograd(Precision precision);

/// A layer without weights: forward, and backward to its source.
template <class Forward, class Backward>
struct Pair {
    typename Forward::primitive_desc forward;
    typename Backward::primitive_desc backward;
};
using PoolingPasses = Pair<dnnl::pooling_forward, dnnl::pooling_backward>;

PoolingPasses describe_pooling(const dnnl::engine& engine, const Desc& source, const Dims& result,
                               const model::Window& window, dnnl::algorithm algorithm);

/// One of the library's slow ways to be right about anything.
inline bool is_reference(const std::string& implementation)
{
    return implementation.starts_with("ref");
}

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
