// PyTorch's operators in a trace as layers: by module, forward and backward, with their work.
#pragma once

#include "analysis/recordings/imported.hpp"
#include "analysis/recordings/operator_work.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace roof::analysis {

/// An interval on one thread, in nanoseconds.
struct ThreadSpan {
    std::string thread;
    std::int64_t begin = 0, end = 0;
};

/// A call of an operator.
struct OperatorSpan : ThreadSpan {
    std::string name;
    std::optional<OperatorWork> work{};
    bool has_shapes = false;
};

/// A call of a module's forward(): "Conv2d_0".
struct ModuleSpan : ThreadSpan {
    std::string name;
};

/// From an operator of the forward pass to its gradient's.
struct Flow {
    std::string from_thread, to_thread;
    std::int64_t from = -1, to = -1;  ///< when they begin; -1: not in the trace
};

struct OperatorTrace {
    std::vector<OperatorSpan> operators;
    std::vector<ModuleSpan> modules;
    std::map<std::string, Flow> flows;  ///< by their id
    std::vector<ThreadSpan> steps;
    std::vector<std::pair<ThreadSpan, std::optional<Phase>>>
        phases;             ///< that the program marked; none: not of the step
    std::string precision;  ///< of the first contraction
};

/// Sets the row's time, phases, work and parts: a layer is a module, or else an operator with its place in the step. Each operator is
/// counted once, at the outermost call that has a formula. Steps in which less than half of the most operators ran were
/// cut off and are left out. Lists in `imported` what is missing.
void make_layers(const OperatorTrace& trace, ImportedRow& row, Imported& imported);

/// Gives the calls of a GPU's library, and the kernels and copies that they started, the layer of the operator that made them and,
/// in a gradient, its phase. Times of the row and the trace count from one moment.
void label_calls(const OperatorTrace& trace, ImportedRow& row);

}  // namespace roof::analysis
