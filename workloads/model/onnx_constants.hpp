// What an exporter computes from shapes: PyTorch writes a channel shuffle as Shape, Gather, Div and Concat of integers.
#pragma once

#include "workloads/model/onnx_node.hpp"

#include <vector>

namespace roof::model::onnx_file {

/// Stands for the number of images where the file leaves it open. Nothing can be computed from it.
inline constexpr long long open_batch = -(1LL << 40);

/// True for the operators that fold() handles.
bool is_folded(const std::string& operation);
/// The node's value from those of its inputs; null: the input is left out. A float constant can only be cast, renamed or
/// transposed. Throws Refused.
Constant fold(const Node& node, const std::vector<const Constant*>& inputs);

}  // namespace roof::model::onnx_file
