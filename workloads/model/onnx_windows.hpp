// Shapes of what windows slide over an input: convolutions and pools.
#pragma once

#include "workloads/model/onnx_tensors.hpp"

namespace roof::model::onnx_file {

using Result = std::optional<Numbers>;

/// These give the extents of the first output. Throw InputError.
Result convolution(const Node& node, const Tensors& tensors);
Result transposed_convolution(const Node& node, const Tensors& tensors);
Result pool(const Node& node, const Tensors& tensors);
Result global_pool(const Node& node, const Tensors& tensors);

}  // namespace roof::model::onnx_file
