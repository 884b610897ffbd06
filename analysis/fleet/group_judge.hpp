// Compares the nodes of one group, quantity by quantity: which rates lie low, and how likely that is among healthy nodes. What follows from
// that is decided over all groups together (judge.cpp).
#pragma once

#include "analysis/fleet/quantities.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace roof::analysis {

/// What of a node is compared: its newest rate; the mean over its days; or the mean over the slower half of its last days, which shows a
/// node that is slow on some days only.
enum class View { newest, mean_of_days, slower_days };

/// For each member.
using TailsOfViews = std::map<View, std::vector<Tails>>;

/// The parts of `error_chance` for ceilings and for means over kinds; the rest is for two populations.
inline constexpr double error_of_ceilings = 0.75 * error_chance;
inline constexpr double error_of_means = 0.2 * error_chance;
inline constexpr double error_of_populations = 0.05 * error_chance;

/// A rate that may be low, on the scale of ln.
struct LowRate {
    Member* member = nullptr;
    CeilingFinding* ceiling = nullptr;
    View view = View::newest;
    bool is_mean = false;   ///< of a kind's ceilings
    bool is_bound = false;  ///< the rate may be higher
    std::size_t days = 1;   ///< whose mean it is
    double median = 0;      ///< of the others
    double x = 0;
    double low = 0;
    double high = 0;
    double newest = 0;             ///< the node's newest rate
    double limit = 0;              ///< what lies below it matters
    double chance = 1;             ///< that a healthy node lies as low
    bool is_wide = false;          ///< its interval is wide, for these nodes
    double chance_of_low = 1;      ///< the same of the low end of its interval
    std::vector<double> others{};  ///< the chances of the same on the node's other days; 1 where the day is not low
};

/// What the smallest visible difference of a ceiling follows from, once the number of all tests is known.
struct Visibility {
    CeilingFinding* ceiling = nullptr;
    const Healthy* healthy = nullptr;
    Tails tails{};
    double deviation = 0;  ///< of a node
    double half = 0;       ///< of an interval
    double material = 0;
    bool is_mean = false;
};

struct GroupTests {
    std::vector<LowRate> low{};
    std::size_t ceilings = 0;  ///< tests, with those that are not low
    std::size_t means = 0;
    std::vector<Visibility> visibilities{};
    HealthyTables tables{};
};

/// Fills in the group's ceilings, and what needs no list over all groups. `members`: at least one.
void compare_nodes(FleetGroup& group, std::vector<Member>& members, GroupTests& tests);

}  // namespace roof::analysis
