// Compares the nodes of one group, ceiling by ceiling: which rates lie low, and how likely that is among healthy nodes. What follows from
// that is decided over all groups together (judge.cpp).
#pragma once

#include "analysis/fleet/judge.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace roof::analysis {

/// A node in a group.
struct Member {
    std::vector<const Digest*>
        days{};  ///< the newest of each day, in the order of time, all by the group's plan and revision
    NodeFinding* finding = nullptr;
    std::map<std::string, std::string> facts{};

    const Digest& newest() const { return *days.back(); }
};

/// The rate of a ceiling on a member, on the scale of ln.
struct Entry {
    Member* member = nullptr;
    const DigestRate* rate = nullptr;  ///< of the newest day
    std::size_t days = 1;              ///< whose mean it is
    double x = 0;
    double low = 0;
    double high = 0;
    double variance = 0;
};

/// A rate that may be low.
struct LowRate {
    Entry entry;
    CeilingFinding* ceiling = nullptr;
    std::shared_ptr<const RateGroup> group;
    std::size_t index = 0;     ///< in the group
    double chance = 1;         ///< that a healthy node lies as low
    double chance_of_low = 1;  ///< the same of the low end of its interval

    double median() const { return group->median_without(index); }
};

struct GroupTests {
    std::vector<LowRate> low;
    std::size_t count = 0;  ///< with those that are not low
};

/// Fills in the group's ceilings, and what needs no list over all groups: implausible, missing, too few nodes. `members`: at least one.
void compare_nodes(FleetGroup& group, std::vector<Member>& members, GroupTests& tests);

/// The newest rate of a ceiling on another day than the newest; null if there is none that can be compared.
const DigestRate* rate_on_another_day(const Member& member, const std::string& ceiling);

/// The half-width of the interval on the scale of ln, over the factor of its rounds (half_width_in_errors), is the standard error.
LogRate log_rate(const DigestRate& rate);

/// ln(1 - material): a rate this far below the median or farther matters.
double material_log();

}  // namespace roof::analysis
