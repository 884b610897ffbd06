// Drift: the ceilings of nodes over weeks. A node is compared with the fleet's median of the same week, so that a change of all nodes
// (a season, a driver, another revision of roof) is not taken for a change of one. The change of all is reported apart.
#pragma once

#include "analysis/fleet/fleet_files.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace roof::analysis {

/// A node and ceiling whose rate, to the fleet's median of each week, went down.
struct NodeDrift {
    std::string node;
    std::string ceiling;
    std::string since;       ///< the Monday of the first slower week: "2026-11-02"
    double ratio = 0;        ///< after to before
    std::size_t before = 0;  ///< weeks
    std::size_t after = 0;
    double chance = 1;  ///< that a node without drift shows as much
};

/// A week in which most nodes changed.
struct FleetShift {
    std::string ceiling;
    std::string week;  ///< the Monday
    double ratio = 0;  ///< to the same nodes' week before
    double low = 0;
    double high = 0;
    std::size_t nodes = 0;  ///< in both weeks
};

/// One kind and plan by one revision, or by several that are joined.
struct HistorySeries {
    std::string kind;
    std::string plan;
    std::vector<std::string> revisions{};  ///< the oldest first
    std::vector<std::string> weeks{};      ///< Mondays
    std::size_t nodes = 0;
    std::size_t tests = 0;  ///< nodes and ceilings with enough weeks
    /// The smallest drop of a node, from the middle of the weeks on, that is found in 95% of cases in the usual ceiling, relative; 0: none.
    double visible = 0;
    std::vector<NodeDrift> drifts{};  ///< the largest first
    std::vector<FleetShift> shifts{};
};

/// Fewer weeks of a node show no drift.
inline constexpr std::size_t fewest_weeks = 4;
/// A revision continues the series of the one before if so many nodes ran both in one week; else a new series begins.
inline constexpr std::size_t fewest_joining = 10;

/// The digests of a node in one week count as their mean. d is ln(node / median of the fleet's week), of weeks with at least
/// `fewest_compared` nodes. The statistic is the one-sided CUSUM
///   C = max over t of (sum of the first t values of d - mean d) / (sigma sqrt(weeks)),   chance exp(-2 C²), Holm over all
/// with sigma from the differences between successive weeks of all nodes: a node that goes down hardly moves it. These differences also show
/// whether the scatter has tails (TailCounts). By as much as it may, d counts as 1.75 sigma from its median at most, and C is that of all
/// weeks together and never of a single one.
std::vector<HistorySeries> judge_history(const Fleet& fleet);

}  // namespace roof::analysis
