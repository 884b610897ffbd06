// Which nodes of a fleet are slow. Nodes are compared only with equal ones: of the same kind, by the same plan and revision.
#pragma once

#include "analysis/fleet/fleet_files.hpp"
#include "analysis/fleet/robust.hpp"
#include "ert/base/names.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace roof::analysis {

/// Of a node, or of a ceiling of a node. In rising order: the last counts where several are true.
///   fine              judged, and like the others
///   undecided         the list of Benjamini and Hochberg has it, or its interval is wide and reaches down to what would be slow
///   not_judged        too few nodes, or too few of its rates can be compared
///   too_old, future   its newest digest is too old; a digest is dated after today
///   twice             digests of one day that are of two machines, or contradict each other
///   missing           expected, and there is no digest; of a ceiling: the digest lacks it, which is no finding about the node
///   implausible       above the spec that the others state
///   slower_population one of so many slower nodes that they are no exception
///   changed_kind      fewer processors or devices than before, or than the other nodes have
///   slow              by Holm's list, and the interval's high end is materially below the others' median
enum class Finding {
    fine,
    undecided,
    not_judged,
    too_old,
    future,
    twice,
    missing,
    implausible,
    slower_population,
    changed_kind,
    slow
};
constexpr EnumNames<Finding, 11> names_of(Finding)
{
    return {"finding",
            {{{Finding::fine, "fine"},
              {Finding::undecided, "undecided"},
              {Finding::not_judged, "not judged"},
              {Finding::too_old, "too old"},
              {Finding::future, "from the future"},
              {Finding::twice, "twice"},
              {Finding::missing, "missing"},
              {Finding::implausible, "implausible"},
              {Finding::slower_population, "slower population"},
              {Finding::changed_kind, "changed kind"},
              {Finding::slow, "slow"}}}};
}

/// One ceiling of a node. Ratios are to the median of the other nodes.
struct NodeCeiling {
    std::string ceiling;
    Finding finding = Finding::fine;
    double ratio = 0;
    double low = 0;
    double high = 0;              ///< infinity for a lower bound
    double chance = 1;            ///< that a healthy node lies as low
    std::size_t days = 1;         ///< whose mean it is
    bool on_another_day = false;  ///< the node's digest of an earlier day shows it too
    std::string reason{};         ///< what the finding is, beside its name; may be empty
};

struct NodeFinding {
    std::string node;
    Finding finding = Finding::fine;
    bool drain = false;                   ///< slow on two days, in a group of at least twelve
    std::vector<NodeCeiling> ceilings{};  ///< those that are not `fine`, the lowest first
    std::string reason{};                 ///< of a finding that is not one of its ceilings
};

struct Population {
    double median = 0;  ///< SI
    std::vector<std::string> nodes;
};

struct CeilingFinding {
    std::string name;
    std::string unit;       ///< empty for the mean of a kind's ceilings, whose median is 1
    std::size_t rates = 1;  ///< that are joined
    std::size_t nodes = 0;
    double median = 0;      ///< SI
    double scatter = 0;     ///< between nodes, relative, beyond their own intervals
    double day_to_day = 0;  ///< standard deviation of a node from day to day, relative; 0: unknown
    double visible = 0;     ///< the smallest difference of one node that is found in 95% of cases, relative; 0: none
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
    std::vector<NodeFinding> aside{};  ///< nodes in no group: missing, too old or from the future
    std::vector<RefusedFolder> refused{};
    std::size_t tests = 0;  ///< ceilings of nodes that were compared
    std::vector<std::string> notes{};
};

/// Fewer nodes are only put in order.
inline constexpr std::size_t fewest_compared = 6;
/// Fewer are shown, and none is to be drained.
inline constexpr std::size_t fewest_drained = 12;

struct JudgeOptions {
    std::string group_by{};    ///< a fact whose values divide the groups further; empty: none
    std::string now{};         ///< "2026-11-22T18:02:16Z"; empty: no digest is from the future
    double max_age_hours = 0;  ///< before `now`; 0: 30 days before the other nodes' digests by the same plan
};

FleetFindings judge(const Fleet& fleet, const JudgeOptions& options = {});

/// The exit status: 1 if a node is slow, of a slower population or of a changed kind, or a rate is implausible; else 2 if a node was not
/// judged, is missing or undecided, or there is none; else 0. A folder that cannot be used is one that was not judged. `has_links`: links were judged, so that nodes need not be.
int status_of(const FleetFindings& findings, bool has_links = false);

}  // namespace roof::analysis
