// A ceiling beside the rate per clock that a public guide states for the core (Known: spec). It is a column beside the measured rate: no
// rate, interval or state depends on it, and it makes no measurement start.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <optional>

namespace roof::analysis {

/// The guide's rate for this ceiling; null where it gives none.
const SpecRate* spec_rate_of(const Ceiling& ceiling, const Machine& machine);

/// FLOPs or bytes per clock of one core, or of one multiprocessor; 0 if the clock is not known.
double per_clock_and_core(const Ceiling& ceiling, const Machine& machine);

/// The measured rate per clock over the guide's; nothing without a guide's rate or a clock.
std::optional<double> share_of_spec(const Ceiling& ceiling, const Machine& machine);

}  // namespace roof::analysis
