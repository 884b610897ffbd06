// The work of one call of a PyTorch operator, from the shapes in a trace. docs/import.md lists the operators.
#pragma once

#include "ert/base/units.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

struct OperatorCall {
    std::string_view name;                       ///< "aten::conv2d"
    std::vector<std::vector<long long>> dims{};  ///< of each input; empty for what is no tensor
    std::vector<std::string> values{};           ///< of the inputs that are no tensors: "[2, 2]"
    double element_bytes = 4;
};

struct OperatorWork {
    std::string kind;  ///< as in our own rows: convolution, linear, batch_norm, …
    Flops flops;
    Bytes bytes;                  ///< compulsory: each operand once
    Bytes no_reuse;               ///< each multiply-add loads both operands again; elementwise as `bytes`
    bool is_contraction = false;  ///< its FLOPs are the model's
};

/// Nothing for an operator without a formula, or whose shapes or values are missing.
std::optional<OperatorWork> work_of(const OperatorCall& call);

}  // namespace roof::analysis
