// Which implementation computes each pass of a convolution, of the library's and this project's: the one the settings ask for
// or, for `auto`, the fastest of all when each is tried once; for `direct` likewise of the library's and our own.
#pragma once

#include "workloads/onednn/convolution/pass.hpp"
#include "workloads/onednn/program/settings.hpp"

namespace roof::onednn {

/// The passes with their implementations, and the layouts at their edges. The edges are those of the direct convolution, and
/// of the implicit matrix product if that is what the settings ask for.
struct ChosenConvolution {
    Implementation<ForwardPass> forward;
    Implementation<BackwardDataPass> backward_data;
    Implementation<BackwardWeightsPass> backward_weights;
    Edges edges;
};

/// `shapes.source` may leave the layout open. `first`: the source is the image, whose gradient nobody needs; no
/// implementation of backward_data is looked for. Throws dnnl::error.
ChosenConvolution choose_convolution(const dnnl::engine& engine, const Convolution& shapes, const Settings& settings,
                                     bool first);

/// The library's version, and the loops of this project beside it: what a remembered choice was made from.
std::string convolution_library();

}  // namespace roof::onednn
