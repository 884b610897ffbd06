// What lasts: the roofs that probes reached over seconds (ert/method/plan/sustain.hpp), beside those of bursts of
// milliseconds.
#pragma once

#include "analysis/roofline/roofs.hpp"
#include "ert/method/bench/measurement.hpp"

#include <span>

namespace roof::analysis {

/// The ceilings with the rates that these probes sustained (`Ceiling::lasting`). Where one ceiling of a
/// precision or level was repeated with a number of threads, its ceilings that were not repeated are left out. A probe
/// during which other programs ran is left out, too. Empty if no probe is of a ceiling.
Ceilings with_lasting(Ceilings bursts, std::span<const Measurement> probes);

/// Whether a step ran for seconds: it was repeated for what lasts, or its counted launches took two seconds together.
bool lasts(const Measurement& row);

/// Whether one of the levels, or this compute roof, which may be null, is lasting.
bool has_lasting(const Roofs& roofs, const Ceiling* compute);

}  // namespace roof::analysis
