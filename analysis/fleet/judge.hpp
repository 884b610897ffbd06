// Which nodes of a fleet are slow. Nodes are compared only with equal ones: of the same kind, by the same plan and revision.
#pragma once

#include "analysis/fleet/fleet_files.hpp"
#include "analysis/fleet/robust.hpp"
#include "ert/base/names.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace roof::analysis {

/// Of a node and ceiling, or of a node: its worst. `slow`: by Holm's list, and the interval's high end is materially below the others' median.
/// `undecided`: the list of Benjamini and Hochberg has it, or its interval reaches down to what would be slow: measure again.
enum class Finding { not_slow, undecided, slow, implausible, missing };
constexpr EnumNames<Finding, 5> names_of(Finding)
{
    return {"finding",
            {{{Finding::not_slow, "not slow"},
              {Finding::undecided, "undecided"},
              {Finding::slow, "slow"},
              {Finding::implausible, "implausible"},
              {Finding::missing, "missing"}}}};
}

/// One ceiling of a node. Ratios are to the median of the other nodes.
struct NodeCeiling {
    std::string ceiling;
    Finding finding = Finding::not_slow;
    double ratio = 0;
    double low = 0;
    double high = 0;              ///< infinity for a lower bound
    double chance = 1;            ///< that a healthy node lies as low
    std::size_t days = 1;         ///< whose mean it is
    bool on_another_day = false;  ///< the node's digest of an earlier day shows it too
    std::string reason{};         ///< of undecided, implausible and missing
};

struct NodeFinding {
    std::string node;
    Finding finding = Finding::not_slow;
    bool drain = false;                   ///< slow on two days, in a group of at least twelve
    std::vector<NodeCeiling> ceilings{};  ///< those that are not `not_slow`, the lowest first
};

struct Population {
    double median = 0;  ///< SI
    std::vector<std::string> nodes;
};

struct CeilingFinding {
    std::string name;
    std::string unit;
    std::size_t nodes = 0;
    double median = 0;      ///< SI
    double scatter = 0;     ///< between nodes, relative, beyond their own intervals
    double day_to_day = 0;  ///< standard deviation of a node from day to day, relative; 0: unknown
    std::size_t slow = 0;
    std::size_t undecided = 0;
    std::vector<Population> populations{};  ///< empty or two, the slower first
};

/// A fact that goes with a difference; not its cause.
struct Association {
    std::string fact;  ///< "BIOS"
    std::string value;
    std::string ceiling;
    std::size_t nodes = 0;  ///< with this value
    double ratio = 0;       ///< of their median to that of the others
    double chance = 1;
};

struct FleetGroup {
    std::string kind;
    std::string plan;
    std::string revision;
    std::string by;  ///< the value of --group-by; empty without
    std::vector<NodeFinding> nodes;
    std::vector<CeilingFinding> ceilings;
    std::vector<Association> associations{};
};

struct FleetFindings {
    std::vector<FleetGroup> groups;
    std::vector<std::string> missing{};  ///< expected nodes without a digest
    std::vector<RefusedFolder> refused{};
    std::size_t tests = 0;  ///< ceilings of nodes that were compared
    std::vector<std::string> notes{};
};

/// Fewer nodes are only put in order.
inline constexpr std::size_t fewest_compared = 6;
/// Fewer are shown, and none is to be drained.
inline constexpr std::size_t fewest_drained = 12;

/// `group_by`: a fact whose values divide the groups further; empty: none.
FleetFindings judge(const Fleet& fleet, const std::string& group_by = {});

}  // namespace roof::analysis
