// This project's own direct convolution (loops/direct/direct.hpp) as an implementation of a convolution's passes, beside those of
// the library.
#pragma once

#include "workloads/onednn/convolution/own_tensors.hpp"
#include "workloads/onednn/loops/direct/direct.hpp"
#include "workloads/onednn/program/dnnl.hpp"

#include <optional>

namespace roof::onednn {

struct DirectConvolution {
    DirectShape shape;
    bool relu = false;
    int threads = 1;
    Precision precision = Precision::fp32;  ///< of the maps; in bf16 there is the weights' gradient alone

    const char* name() const;
    std::size_t scratch(OwnPass pass) const;
    void run(OwnPass pass, const OwnTensors& tensors) const;
};

/// None if the shapes are not such that it suits: full blocks of channels; in bf16, instructions for it and several images.
std::optional<DirectConvolution> own_direct(const Convolution& shapes, int threads);

}  // namespace roof::onednn
