// Sums of one or two tensors of one layout, and a ReLU in the same loop.
#pragma once

#include "workloads/onednn/program/program.hpp"

#include <limits>
#include <vector>

namespace roof::onednn {

/// What a loop does with the sum: nothing; max(sum, 0); zero where the ReLU clipped it.
enum class ReluPass { none, forward, backward };

/// Appends y = the sum of one or two terms, then the ReLU, which is clipped at `most`. `result`: the ReLU's, for the
/// backward pass. y may be a term.
void append_sum(Program& program, const Tensor& y, const std::vector<Tensor>& terms, ReluPass relu,
                const Tensor& result = {}, float most = std::numeric_limits<float>::infinity());

}  // namespace roof::onednn
