// This project's own Winograd convolution (loops/winograd/winograd.hpp) as an implementation of a convolution's passes, beside those of
// the library.
#pragma once

#include "workloads/onednn/convolution/own_tensors.hpp"
#include "workloads/onednn/loops/winograd/winograd.hpp"
#include "workloads/onednn/program/dnnl.hpp"

#include <optional>

namespace roof::onednn {

struct WinogradConvolution {
    WinogradShape shape;
    bool relu = false;
    int threads = 1;

    const char* name() const { return winograd_implementation(); }
    std::size_t scratch(OwnPass pass) const;
    void run(OwnPass pass, const OwnTensors& tensors) const;
};

/// None if the shapes are not such that it suits: fp32, a 3x3 window of stride 1 and padding 1, full blocks of channels.
std::optional<WinogradConvolution> own_winograd(const Convolution& shapes, int threads);

/// Whether a Winograd convolution of this precision is to be had on this machine: this project's or the library's.
bool offers_winograd(Precision precision);

}  // namespace roof::onednn
