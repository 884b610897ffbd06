// Selects the candidate for each pass of a convolution. `auto` measures all candidates and takes the fastest. `direct`
// takes the fastest of oneDNN's first choice and this project's direct kernels. Otherwise the settings name the
// algorithm. In bf16 the candidates multiply in both ways: by the dot product, or widened to fp32.
#pragma once

#include "workloads/onednn/convolution/candidate.hpp"
#include "workloads/onednn/program/settings.hpp"

#include <span>
#include <string>

namespace roof::onednn {

/// `edges`: layouts between the convolution and its neighbours, as oneDNN's first direct implementation prefers them
/// (or its matrix product, for gemm).
struct ChosenConvolution {
    Candidate forward, backward_data, backward_weights;
    Layouts edges;
};

/// `shapes.source` may leave the layout open. `first`: the source is the image, which needs no gradient; backward_data
/// is then empty. Throws Error, dnnl::error.
ChosenConvolution choose_convolution(const dnnl::engine& engine, const Convolution& shapes, const Settings& settings,
                                     bool first);

/// The version of oneDNN, the instruction set of this project's kernels, and a checksum of the candidates' names. A
/// remembered choice is valid for these only, so a new candidate is tried.
std::string library_of(std::span<const Candidate> candidates);

}  // namespace roof::onednn
