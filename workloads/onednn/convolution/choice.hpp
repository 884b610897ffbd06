// Which candidate computes each pass of a convolution: the one that the settings ask for or, for `auto`, the fastest
// when each is tried once; for `direct` the faster of oneDNN's favourite and this project's kernel.
#pragma once

#include "workloads/onednn/convolution/candidate.hpp"
#include "workloads/onednn/program/settings.hpp"

namespace roof::onednn {

/// `edges`: layouts between the convolution and its neighbours: those that oneDNN's favourite direct implementation
/// likes or, for the algorithm gemm, its matrix product.
struct ChosenConvolution {
    Candidate forward, backward_data, backward_weights;
    Layouts edges;
};

/// `shapes.source` may leave the layout open. `first`: the source is the image, whose gradient is not needed, and
/// backward_data is left empty. Throws Error, dnnl::error.
ChosenConvolution choose_convolution(const dnnl::engine& engine, const Convolution& shapes, const Settings& settings,
                                     bool first);

/// The versions of oneDNN and of this project's kernels: a remembered choice holds for these.
std::string convolution_library();

}  // namespace roof::onednn
