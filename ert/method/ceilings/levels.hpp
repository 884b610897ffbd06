// The levels of memory found in working-set sweeps, beside the sizes that the machine reports; and the plateaus that
// show them.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <compare>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof {

struct SweepKey {
    Role role;
    std::string device;
    int threads;
    std::string condition;
    std::string operation;
    std::string past_l1;  ///< the instructions if they bypass the L1; else empty

    auto operator<=>(const SweepKey&) const = default;
};

/// At each working set in bytes, the fastest point.
using Sweep = std::map<double, const PointSummary*>;

/// The working-set sweeps. The result points into `points`.
std::map<SweepKey, Sweep> sweeps_in(const std::vector<PointSummary>& points);

/// Whether the level answers a row's accesses when their working set lies in it. On a GPU some pass the L1: loads that
/// are told to, bulk copies, and stores, which its L1s write through.
bool is_answered_by(const MeasuredLevel& level, const Measurement& row);

/// Loads of a GPU past the L1 of which two multiprocessors read each line: the L2 gives more of them.
bool is_by_two_readers(const Point& point);

/// The operation of the ceiling that a row shows: "load", "load by two readers".
std::string operation_of(const Measurement& row);

/// The levels of every device and thread count: L1, L2, … from the fastest; the last is memory, DRAM. From its load
/// sweep under default conditions; without one, from the first sweep. With several threads they are those of the
/// fewest, as long as the sweep can be divided so; a level without a set is left out. The edges are found from the
/// rates alone. `machine`, where it reports caches, says what may be memory: sets that no reported cache holds, or that
/// lie behind as many caches as are reported; and where it reports a third cache, how many there are.
std::vector<MeasuredLevel> find_levels(const std::vector<PointSummary>& points, const Machine& machine);

/// The non-default conditions of a point, for display: "small pages, siblings"; empty for the defaults.
std::string condition_of(const Point& point);

/// The rates of a sweep by ascending set: those of the undisturbed samples, or of the disturbed ones where more sets
/// have three of them, so that all sets are compared in one state. Of all samples where either has less than half of
/// the sets.
std::vector<RatePoint> rates_of(const Sweep& sweep);

/// Of all neighbours the two whose slower member is fastest: the index of the first; 0 for a single point. One lucky
/// point cannot decide it, nor the slope towards the next level.
std::size_t fastest_pair(std::span<const RatePoint> sweep);

}  // namespace roof
