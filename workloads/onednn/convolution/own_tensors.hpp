// What a convolution of this project works on, whichever its algorithm: a pass, and tensors in this project's layouts (own.hpp).
#pragma once

#include "workloads/onednn/program/program.hpp"

namespace roof::onednn {

enum class OwnPass { forward, backward_data, backward_weights };

/// Of the source, the weights, the bias and the result each the values or the gradient, as the pass wants: it writes one of
/// them, and the bias' gradient with that of the weights.
struct OwnTensors {
    Tensor source;
    Tensor weights;
    Tensor result;
    Tensor bias{};  ///< without memory: none
    bool has_bias = false;
    Tensor scratch{};  ///< fp32 numbers, as many as the convolution wants for the pass; values are of no interest

    float* bias_data() const { return has_bias ? bias.data() : nullptr; }
};

}  // namespace roof::onednn
