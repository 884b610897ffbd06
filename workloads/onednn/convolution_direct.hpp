// This project's own direct convolution (loops/direct/direct.hpp) as an implementation of a convolution's passes, beside those of
// the library.
#pragma once

#include "workloads/onednn/dnnl.hpp"
#include "workloads/onednn/loops/direct/direct.hpp"
#include "workloads/onednn/program.hpp"

#include <optional>

namespace roof::onednn {

struct DirectConvolution {
    DirectShape shape;
    bool relu = false;
    int threads = 1;
    Precision precision = Precision::fp32;  ///< of the maps; in bf16 there is the weights' gradient alone

    const char* name() const;
};

/// None if the shapes are not such that it suits: full blocks of channels; in bf16, instructions for it and several images.
std::optional<DirectConvolution> own_direct(const Convolution& shapes, int threads);

/// The tensors are in this project's layouts (convolution_own.hpp). `bias`: null if there is none.
void append_forward(Program& program, const DirectConvolution& convolution, const Tensor& source, const Tensor& weights,
                    const Tensor* bias, const Tensor& result);
void append_backward_data(Program& program, const DirectConvolution& convolution, const Tensor& result_gradient,
                          const Tensor& weights, const Tensor& source_gradient);
void append_backward_weights(Program& program, const DirectConvolution& convolution, const Tensor& source,
                             const Tensor& result_gradient, const Tensor& weights_gradient,
                             const Tensor* bias_gradient);

}  // namespace roof::onednn
