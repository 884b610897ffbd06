// PyTorch's operators in a trace: the work of a call, from its shapes (docs/import.md lists the operators), and the calls as layers: by
// module, forward and backward.
#pragma once

#include "analysis/recordings/import.hpp"

#include <cstdint>
#include <map>
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
    Flops flops{};
    Bytes bytes{};                 ///< compulsory: each operand once
    Bytes no_reuse{};              ///< each multiply-add loads both operands again; elementwise as `bytes`
    bool is_contraction = false;   ///< its FLOPs are the model's
    Flops masked{};                ///< of `flops`, not executed: a causal mask leaves them out
    bool mask_is_unknown = false;  ///< of attention: `flops` and no `masked`
    bool is_unknown = false;       ///< a contraction that its shapes do not tell
};

/// Nothing for an operator without a formula, or whose shapes or values are missing.
std::optional<OperatorWork> work_of(const OperatorCall& call);

/// What `make_layers` says of the FLOPs of a trace with such operators, before their names.
inline constexpr const char* without_formula = "FLOPs: these operators multiply and have no formula: ";

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

/// A range of the program that marks a phase.
struct PhaseSpan : ThreadSpan {
    std::optional<Phase> phase{};  ///< none: not of the step
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
    std::vector<PhaseSpan> phases;
    std::string precision;  ///< of the first contraction
};

/// Sets the row's time, phases, work and parts: a layer is a module, or else an operator with its place in the step. Each operator is
/// counted once, at the outermost call that has a formula. Steps in which less than half of the most operators ran were
/// cut off and are left out. Lists in `imported` what is missing: the FLOPs too if an operator multiplies and has no formula.
void make_layers(const OperatorTrace& trace, ImportedRow& row, Imported& imported);

/// Gives the calls of a GPU's library, and the kernels and copies that they started, the layer of the operator that made them and,
/// in a gradient, its phase. Times of the row and the trace count from one moment.
void label_calls(const OperatorTrace& trace, ImportedRow& row);

}  // namespace roof::analysis
