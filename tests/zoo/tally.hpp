// Verdicts added up by kind, and the figures of "Done when" held against them.
#pragma once

#include "tests/zoo/judge.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace roof::zoo {

/// Ceilings of one group.
struct GroupTally {
    std::size_t ceilings = 0;
    std::size_t steady = 0, at_least = 0, unsteady = 0;
    std::size_t steady_holds = 0, unsteady_holds = 0;
    std::size_t steady_and_low = 0;
    std::size_t steady_and_wrong = 0;  ///< after an event
    std::size_t holds_after = 0;       ///< steady intervals with what a run started afterwards gets
    std::size_t above = 0;             ///< lower bounds above the truth
    std::vector<float> misses;         ///< of steady intervals: the distance of the value from the truth, as a share
    std::vector<float> bounds;         ///< lower bounds over the truth, where three samples were undisturbed
    std::vector<float> half_widths;    ///< of steady intervals

    void add(const JudgedCeiling& ceiling);
    GroupTally& operator+=(const GroupTally& other);
};

/// All members of a GroupTally, under their names in JSON.
inline constexpr std::pair<const char*, std::size_t GroupTally::*> counts_of_group[]{
    {"ceilings", &GroupTally::ceilings},
    {"steady", &GroupTally::steady},
    {"steady_holds", &GroupTally::steady_holds},
    {"steady_and_low", &GroupTally::steady_and_low},
    {"at_least", &GroupTally::at_least},
    {"above", &GroupTally::above},
    {"unsteady", &GroupTally::unsteady},
    {"unsteady_holds", &GroupTally::unsteady_holds},
    {"steady_and_wrong", &GroupTally::steady_and_wrong},
    {"steady_holds_after", &GroupTally::holds_after}};
inline constexpr std::pair<const char*, std::vector<float> GroupTally::*> shares_of_group[]{
    {"steady_half_widths", &GroupTally::half_widths},
    {"steady_misses", &GroupTally::misses},
    {"bounds_over_truth", &GroupTally::bounds}};

struct Tally {
    const Kind* kind = nullptr;
    std::size_t machines = 0;
    int looks = 0;  ///< calibrations of each; 0: one, which judges alone
    std::size_t levels_right = 0;
    std::size_t false_levels = 0;
    std::size_t edges = 0, edges_right = 0;
    std::size_t any_steady_and_low = 0;  ///< machines with at least one such ceiling
    std::map<int, std::size_t> statuses;
    std::size_t broken = 0;      ///< calibrations without ceilings: an exception, or a folder that could not be read
    std::vector<float> seconds;  ///< of each machine's longest calibration, by the simulated clock
    std::size_t rows = 0;
    std::array<GroupTally, groups.size()> by_group;

    void add(const Calibration& calibration, const Verdict& verdict);
    Tally& operator+=(const Tally& other);
    const GroupTally& of(Group group) const { return by_group[static_cast<std::size_t>(group)]; }
    GroupTally all() const;
    std::size_t calibrations() const { return machines * static_cast<std::size_t>(std::max(1, looks)); }
};

/// NaN for none.
double quantile_of(std::vector<float> values, double share);
double median_of(std::vector<float> values);

/// A figure of "Done when" for a kind, a group of it, or a pool.
struct Finding {
    std::string figure;
    std::string of;  ///< the kind, and the group where the figure has them
    double value = 0;
    double bound = 0;
    bool is_least = true;  ///< the value must be at least the bound; else at most
    std::size_t cases = 0;

    bool passes() const { return is_least ? value >= bound : value <= bound; }
};

/// All figures of these kinds. What is too small even when pooled is left out and named in `unjudged`.
std::vector<Finding> findings_of(const std::vector<Tally>& tallies, std::vector<std::string>& unjudged);

}  // namespace roof::zoo
