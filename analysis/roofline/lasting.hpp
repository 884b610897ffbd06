// What lasts: the roofs that probes reached over seconds (ert/method/plan/sustain.hpp), beside those of bursts of
// milliseconds.
#pragma once

#include "analysis/roofline/roofs.hpp"
#include "ert/method/bench/measurement.hpp"

#include <span>

namespace roof::analysis {

/// The ceilings with the rates that these probes sustained (`Ceiling::lasting`). Of a precision or level of which any
/// was repeated with so many threads, those that were not are left out; so is a probe beside which other programs ran.
/// Empty if no probe is of a ceiling.
Ceilings with_lasting(Ceilings bursts, std::span<const Measurement> probes);

/// Whether a step ran for seconds: it was repeated for what lasts, or its counted launches took two seconds together.
bool lasts(const Measurement& row);

/// Whether one of the levels, or this compute roof, which may be null, is lasting.
bool has_lasting(const Roofs& roofs, const Ceiling* compute);

}  // namespace roof::analysis
