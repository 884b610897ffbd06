// What the names speak of that programs give to stretches of their time: the same for a recorder and for the files of other tools.
#pragma once

#include "ert/recording/records.hpp"

#include <string_view>

namespace roof {

/// The phase that a range's name speaks of: forward, backward, update, data, synchronise; empty if it speaks of none. Names are
/// those of PyTorch's own ranges ("Optimizer.step#SGD.step", "autograd::engine::…") and the words people use.
std::string_view phase_in(std::string_view name);

/// What a range with that name is: a step ("step 12", "ProfilerStep#3", "iteration"), a phase, or something else.
RangeKind kind_in(std::string_view name);

}  // namespace roof
