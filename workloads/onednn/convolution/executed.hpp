// What the name of a convolution's implementation tells: its algorithm, and what it really computes.
#pragma once

#include "ert/base/units.hpp"
#include "workloads/model/graph.hpp"

#include <string>
#include <string_view>

namespace roof::onednn {

/// "direct", "winograd" or "gemm".
std::string_view algorithm_of(const std::string& implementation);

/// FLOPs that one pass of a convolution executes when the implementation of this name computes it; 0 if that is not
/// known to differ from the model's:
///   jit_wino_MxR   (m + 2)^2 products per tile of m x m outputs; transforms are left out
///   jit…, roof:direct…   the direct kernels leave out taps that fall on padding; the least they can execute is what counts
///   …gemm…         zeros of the padding are multiplied like all else
Flops executed_flops(const std::string& implementation, const model::Graph& graph, int layer, int batch);

}  // namespace roof::onednn
