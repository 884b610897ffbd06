// A ceiling beside the rate per clock that a public guide states for the core (Known: spec).
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <optional>

namespace roof {

/// The guide's rate for this ceiling; null where it gives none.
const SpecRate* spec_rate_of(const Ceiling& ceiling, const Machine& machine);

/// FLOPs or bytes per clock of one core, or of one multiprocessor; 0 if the clock is not known.
double per_clock_and_core(const Ceiling& ceiling, const Machine& machine);

/// The measured rate per clock over the guide's; nothing without a guide's rate or a clock.
std::optional<double> share_of_spec(const Ceiling& ceiling, const Machine& machine);

/// Whether a CPU's ceiling is further below its spec than on an undisturbed core: it may be able to do more.
bool falls_short(const Ceiling& ceiling, const Machine& machine);

/// For arithmetic and L1: a shortfall against the spec means interference that the noise monitor missed. Widens the interval up to
/// the spec; sets `short of spec` where no other reason applies.
void reach_up_to_spec(Ceiling& ceiling, const Machine& machine);

}  // namespace roof
