// Checks ceilings against the spec. A ceiling above the spec of the core was measured wrongly.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/spec_rate.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

/// Tolerance for the error of the measured clock.
inline constexpr double max_share_of_spec = 1.005;

/// A sentence for each ceiling whose whole interval is above `max_share_of_spec` of its spec. Such a calibration must
/// not be used.
std::vector<std::string> impossible_ceilings(const Ceilings& ceilings, const Machine& machine);

/// "L1 load, 1 thread"; "fp32 fma avx512, 2 threads, siblings".
std::string name_of(const Ceiling& ceiling);

}  // namespace roof::analysis
