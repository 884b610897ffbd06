// How good a calibration is, in one sentence. Every command that uses ceilings says it.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <span>
#include <string>

namespace roof::analysis {

/// "94 of 132 ceilings are lower bounds, 3 are unsteady: a core was shared 70% of the time." The time is that of the samples of `rows`, the
/// calibration's, and the reason the most frequent one. A second sentence counts rows that were skipped. Empty without ceilings.
std::string calibration_quality(std::span<const Ceiling> ceilings, std::span<const Measurement> rows);

}  // namespace roof::analysis
