// A parameter as the CPU keeps it.
#pragma once

#include "workloads/kernels/linear/products.hpp"
#include "workloads/onednn/program/program.hpp"

#include <optional>

namespace roof::onednn {

/// The two factors of a linear layer's weight gradient, which is not stored. Rows are contiguous.
struct GradientFactors {
    LinearShape shape;
    Tensor source;           ///< [batch][inputs]
    Tensor result_gradient;  ///< [batch][outputs]
};

/// A trained tensor and, if trained, its gradient and averages, all in one layout. `dims` are PyTorch's (OIHW).
struct Trained {
    Tensor value, gradient, momentum;
    Dims dims;
    Tensor square{};                           ///< AdamW: the average of squared gradients
    Tensor copy{};                             ///< the value in bf16, in the same layout; or none
    std::optional<GradientFactors> factors{};  ///< replaces the gradient
};

}  // namespace roof::onednn
