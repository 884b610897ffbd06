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

/// Whether a row's accesses pass the L1: a GPU's loads that are told to, its bulk copies, and its stores, which its L1s
/// write through.
bool passes_l1(const Measurement& row);

/// Whether the level answers a row's accesses when their working set lies in it.
bool is_answered_by(const MeasuredLevel& level, const Measurement& row);

/// Levels L1, L2, … from the fastest; the last is memory, DRAM. Found from the rates alone (plateau.hpp); the sizes that
/// `machine` reports are added for comparison. `first`: the number of the fastest.
std::vector<MeasuredLevel> levels_of(const Sweep& sweep, const std::string& device, int threads, const Machine& machine,
                                     int first = 1);

/// The L1 of `through`, and behind it the levels of a sweep past the L1.
std::vector<MeasuredLevel> with_levels_past_l1(const std::vector<MeasuredLevel>& through,
                                               std::vector<MeasuredLevel> past);

/// Sets `sharing`: with n threads on n cores a private level holds n times as much, a shared one as much as before. Unclear where
/// the machine reports the opposite.
void compare_thread_counts(std::vector<MeasuredLevel>& levels, const Machine& machine);

}  // namespace roof
