// The levels of memory found in a working-set sweep, beside the sizes that the machine reports; and the plateaus that show them (plateau.cpp).
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

struct RatePoint {
    double working_set = 0;  ///< bytes
    double rate = 0;         ///< any unit
};

/// Indices into the sweep, both included.
struct Plateau {
    std::size_t first = 0;
    std::size_t last = 0;
};

/// `sweep`: by ascending working set, rates above 0. Plateaus come in the same order, each lower than the one before; the last reaches
/// to the end of the sweep, which lies in memory. Fewer than three points have none.
///
/// Interference only slows, and a level that delivers a rate from a large set delivers it from a smaller one. So each point counts as
/// the fastest of itself and all larger sets, after a median of three has removed single outliers. That leaves a staircase; a plateau
/// ends where it falls by more than 0.35 (log2 of rate) per octave, unless the fall is under 16%. It has at least three points, spans an octave and falls by at most 0.22 per octave in all.
std::vector<Plateau> find_plateaus(std::span<const RatePoint> sweep);

}  // namespace roof
