// This project's own Winograd convolution (loops/winograd/winograd.hpp) as an implementation of a convolution's passes, beside those of
// the library.
#pragma once

#include "workloads/onednn/dnnl.hpp"
#include "workloads/onednn/loops/winograd/winograd.hpp"
#include "workloads/onednn/program.hpp"

#include <optional>

namespace roof::onednn {

struct WinogradConvolution {
    WinogradShape shape;
    bool relu = false;
    int threads = 1;
};

/// None if the shapes are not such that it suits: fp32, a 3x3 window of stride 1 and padding 1, full blocks of channels.
std::optional<WinogradConvolution> own_winograd(const Convolution& shapes, int threads);

/// Whether a Winograd convolution of this precision is to be had on this machine: this project's or the library's.
bool offers_winograd(Precision precision);

/// The tensors are in this project's layouts (convolution_own.hpp). `bias`: null if there is none.
void append_forward(Program& program, const WinogradConvolution& convolution, const Tensor& source,
                    const Tensor& weights, const Tensor* bias, const Tensor& result);
void append_backward_data(Program& program, const WinogradConvolution& convolution, const Tensor& result_gradient,
                          const Tensor& weights, const Tensor& source_gradient);
void append_backward_weights(Program& program, const WinogradConvolution& convolution, const Tensor& source,
                             const Tensor& result_gradient, const Tensor& weights_gradient,
                             const Tensor* bias_gradient);

}  // namespace roof::onednn
