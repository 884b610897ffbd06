// The levels of memory found in a working-set sweep, beside the sizes that the machine reports.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof {

/// At each working set in bytes, the fastest row of the sweep.
using Sweep = std::map<double, const PointSummary*>;

/// Levels L1, L2, … from the fastest; the last is memory, DRAM. Found from the rates alone (plateau.hpp); the sizes that
/// `machine` reports are added for comparison.
std::vector<MeasuredLevel> levels_of(const Sweep& sweep, const std::string& device, int threads,
                                     const Machine& machine);

/// Sets `sharing`: with n threads on n cores a private level holds n times as much, a shared one as much as before. Unclear where
/// the machine reports the opposite.
void compare_thread_counts(std::vector<MeasuredLevel>& levels, const Machine& machine);

}  // namespace roof
