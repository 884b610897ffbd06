// The meaning of the names that programs give to ranges of time, for the recorder and for files of other tools.
#pragma once

#include "ert/recording/records.hpp"

#include <string_view>

namespace roof {

/// The phase that a range's name stands for: forward, backward, update, data, synchronise; empty if none. Known names are those of
/// PyTorch's ranges ("Optimizer.step#SGD.step", "autograd::engine::…") and common words.
std::string_view phase_in(std::string_view name);

/// The kind of a range with that name: a step ("step 12", "ProfilerStep#3", "iteration"), a phase, or something else.
RangeKind kind_in(std::string_view name);

}  // namespace roof
