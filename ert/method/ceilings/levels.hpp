// The levels of memory as a working-set sweep shows them, and what the machine reports beside them.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof {

/// At each working set in bytes, the fastest row of the sweep.
using Sweep = std::map<double, const PointSummary*>;

/// Levels L1, L2, … from the fastest; the last is memory, DRAM. Found by the rates alone (plateau.hpp); the reported sizes of
/// `machine` are only set beside them.
std::vector<MeasuredLevel> levels_of(const Sweep& sweep, const std::string& device, int threads,
                                     const Machine& machine);

/// Tells private levels from shared ones: with a core more for each thread, a private level holds as many times more. Unclear where
/// the machine reports the opposite.
void compare_thread_counts(std::vector<MeasuredLevel>& levels, const Machine& machine);

}  // namespace roof
