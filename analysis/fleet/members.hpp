// Who is compared with whom: the digests of each node by day, the groups of equal nodes, and the nodes that cannot be judged as they are.
#pragma once

#include "analysis/fleet/judge.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace roof::analysis {

/// A node in a group.
struct Member {
    /// The newest of each day, in the order of time, all by the group's plan and revision. A day ends 23 hours before the next newer
    /// digest, so that a daily job may begin a little earlier, and midnight makes no second day.
    std::vector<const Digest*> days{};
    NodeFinding* finding = nullptr;
    std::map<std::string, std::string> facts{};

    const Digest& newest() const { return *days.back(); }
};

/// Kind, plan, revision, and the value of the fact that divides groups.
using GroupKey = std::tuple<std::string, std::string, std::string, std::string>;

struct Membership {
    std::map<GroupKey, std::vector<Member>> groups;
    std::vector<NodeFinding> aside{};              ///< nodes in no group, without the missing ones
    std::map<std::string, NodeFinding> remarks{};  ///< of nodes in groups: changed kind, twice, from the future
};

/// The node's newest digest by each plan says of which kind it is; older ones by the same revision are its other days.
Membership members_of(const Fleet& fleet, const JudgeOptions& options);

/// Whether a kind has the same parts as another, but fewer of them: "epyc-13cpu" to "epyc-26cpu", or 7 GPUs to 8.
bool has_lost(const std::string& less, const std::string& more);

/// Seconds from 1970 of "2026-11-22T18:02:16Z". What follows the day may be missing or wrong: then it is midnight.
double seconds_of(const std::string& time);

}  // namespace roof::analysis
