// The engine's interface to oneDNN. Only dnnl.cpp depends on the library's version, 2.x or 3.x.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/precision.hpp"
#include "workloads/model/convolution.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <functional>
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
/// True if the numbers lie in the order of the dimensions, without gaps: also blocks of single positions' channels.
bool is_in_order(const Desc& desc);
/// "fp32 aBcd16b", as oneDNN names its layouts: dimensions from outermost to innermost, blocked ones in capitals.
std::string layout_name(const Desc& desc);

/// Attributes of every primitive: the caller owns the scratchpad. `relu` is applied before the result is stored.
dnnl::primitive_attr attributes(bool relu = false);

/// {images, channels, height, width}
Dims dims_of(int batch, const model::Shape& map);
/// [o][i][y][x], or with groups [g][o / g][i / g][y][x]
Dims weights_of(const model::Convolution& shape);

/// How oneDNN computes an operation.
struct Implementation {
    std::string name;
    Desc scratchpad;
    std::function<dnnl::primitive()> make;             ///< compiles it
    std::function<Desc(int argument)> layout_of = {};  ///< of an argument, by oneDNN's number
};

/// All implementations of a pass, in oneDNN's order of preference. Reference code is included only if there is nothing
/// else. Empty if oneDNN has no such algorithm for the shape. Maps and weights are in its precision, gradients of
/// weights in fp32; the source in the layout that the implementation prefers, or plain.
std::vector<Implementation> convolution_implementations(const dnnl::engine& engine, const ConvolutionPass& shape,
                                                        dnnl::algorithm algorithm, bool is_plain);

/// As convolution_implementations() for a convolution of single positions, as a product of rows: [positions of all
/// images][channels] between maps, weights [o][i] in any layout. Empty for other convolutions.
std::vector<Implementation> product_implementations(const dnnl::engine& engine, const ConvolutionPass& shape);

struct PoolingPasses {
    Implementation forward, backward;
};
PoolingPasses describe_pooling(const dnnl::engine& engine, const Desc& source, const Dims& result,
                               const model::Window& window, dnnl::algorithm algorithm);
/// Bilinear, in the layout of the source.
PoolingPasses describe_resampling(const dnnl::engine& engine, const Desc& source, const Dims& result);

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
