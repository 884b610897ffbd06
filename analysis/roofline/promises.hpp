// Theory beside measurement: what a public guide promises of a core per clock (Known: spec), next to what a ceiling reached
// (Known: measured). No ceiling can lie above what the core can do; one that does was measured wrongly.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/lab/machine.hpp"

#include <optional>
#include <string>
#include <vector>

namespace roof::analysis {

/// Null where nothing is promised.
const Promise* promise_of(const Ceiling& ceiling, const Machine& machine);

/// FLOPs or bytes per clock of one of the cores that the ceiling's threads ran on, or of one multiprocessor; 0 if the clock is not known.
double per_clock_and_core(const Ceiling& ceiling, const Machine& machine);

/// What was reached of what is promised; nothing without a promise or a clock.
std::optional<double> share_of_promise(const Ceiling& ceiling, const Machine& machine);

/// What the clock beside the launches may be off by.
inline constexpr double most_of_promise = 1.005;

/// A sentence for each ceiling whose whole interval lies above `most_of_promise` of its promise: such a calibration must not
/// be used.
std::vector<std::string> impossible_ceilings(const Ceilings& ceilings, const Machine& machine);

/// "L1 load, 1 thread"; "fp32 fma avx512, 2 threads, siblings".
std::string name_of(const Ceiling& ceiling);

}  // namespace roof::analysis
