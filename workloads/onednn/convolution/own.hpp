// The convolutions of this project's own, whichever the algorithm: they share their layouts.
#pragma once

#include "workloads/onednn/convolution/direct.hpp"
#include "workloads/onednn/convolution/winograd.hpp"

#include <string>
#include <variant>

namespace roof::onednn {

using OwnConvolution = std::variant<DirectConvolution, WinogradConvolution>;

std::string name_of(const OwnConvolution& convolution);

/// Appends the pass, with memory for its scratch.
void append_own(Program& program, const OwnConvolution& convolution, OwnPass pass, OwnTensors tensors);

/// The layouts they read and write: channels in blocks of a vector. A map keeps its precision.
Desc own_map_layout(const Desc& map);
Desc own_weights_layout(const Dims& dims);

}  // namespace roof::onednn
