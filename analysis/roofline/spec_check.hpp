// Theory beside measurement: no ceiling can lie above what a core is promised to do; one that does was measured wrongly.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/spec_rate.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

/// What the clock beside the launches may be off by.
inline constexpr double max_share_of_spec = 1.005;

/// A sentence for each ceiling whose whole interval lies above `max_share_of_spec` of its spec: such a calibration must not
/// be used.
std::vector<std::string> impossible_ceilings(const Ceilings& ceilings, const Machine& machine);

/// "L1 load, 1 thread"; "fp32 fma avx512, 2 threads, siblings".
std::string name_of(const Ceiling& ceiling);

}  // namespace roof::analysis
