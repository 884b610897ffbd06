// The meaning of programs' range names, for the recorder and for files of other tools.
#pragma once

#include "ert/recording/records.hpp"

#include <string_view>

namespace roof {

/// The phase of a range: forward, backward, update, data, synchronise; empty if none. Knows the names of PyTorch's
/// ranges ("Optimizer.step#SGD.step", "autograd::engine::…") and common words.
std::string_view phase_in(std::string_view name);

/// The kind of a range: a step ("step 12", "ProfilerStep#3", "iteration"), a phase, or something else.
RangeKind kind_in(std::string_view name);

}  // namespace roof
