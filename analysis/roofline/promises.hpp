// Theory beside measurement: no ceiling can lie above what a core is promised to do; one that does was measured wrongly.
#pragma once

#include "ert/method/ceilings/promise.hpp"
#include "ert/method/lab/machine.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

/// What the clock beside the launches may be off by.
inline constexpr double most_of_promise = 1.005;

/// A sentence for each ceiling whose whole interval lies above `most_of_promise` of its promise: such a calibration must not
/// be used.
std::vector<std::string> impossible_ceilings(const Ceilings& ceilings, const Machine& machine);

/// "L1 load, 1 thread"; "fp32 fma avx512, 2 threads, siblings".
std::string name_of(const Ceiling& ceiling);

}  // namespace roof::analysis
