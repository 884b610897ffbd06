// What a public guide promises of a core per clock (Known: spec), next to what a ceiling reached (Known: measured).
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <optional>

namespace roof {

/// Null where nothing is promised.
const SpecRate* spec_rate_of(const Ceiling& ceiling, const Machine& machine);

/// FLOPs or bytes per clock of one of the cores that the ceiling's threads ran on, or of one multiprocessor; 0 if the clock is not known.
double per_clock_and_core(const Ceiling& ceiling, const Machine& machine);

/// What was reached of what is promised; nothing without a promise or a clock.
std::optional<double> share_of_spec(const Ceiling& ceiling, const Machine& machine);

/// Whether a CPU's arithmetic or cache stays further below its promise than a quiet core does: it may be able to do more.
bool falls_short(const Ceiling& ceiling, const Machine& machine);

/// Of what a core has to itself, arithmetic and L1, that falls short: something slowed it that the watch over the core did not see.
/// The interval then reaches up to what is promised, and where nothing else made it wide, `short of spec` is the verdict.
void reach_up_to_spec(Ceiling& ceiling, const Machine& machine);

}  // namespace roof
