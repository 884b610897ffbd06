// Two fleets, or one before and after a change: each ceiling's rate of B to that of A, and the nodes that changed unlike the others.
#pragma once

#include "analysis/fleet/judge.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

/// `same`: the interval lies within 3% of 1. `slower` and `faster`: it lies beyond, and the difference is certain after correction for all
/// ceilings.
enum class ChangeVerdict { slower, faster, same, undecided };
constexpr EnumNames<ChangeVerdict, 4> names_of(ChangeVerdict)
{
    return {"verdict",
            {{{ChangeVerdict::slower, "slower"},
              {ChangeVerdict::faster, "faster"},
              {ChangeVerdict::same, "same within 3%"},
              {ChangeVerdict::undecided, "undecided"}}}};
}

struct CeilingChange {
    std::string ceiling;
    std::string unit;
    std::size_t nodes_a = 0;
    std::size_t nodes_b = 0;
    std::size_t common = 0;  ///< nodes in both; from `fewest_compared` on, the ratio is the median of theirs
    double median_a = 0;     ///< SI
    double median_b = 0;
    double ratio = 0;  ///< B to A; low and high: its 95% interval
    double low = 0;
    double high = 0;
    double chance = 1;  ///< of as large a difference between equal fleets
    ChangeVerdict change = ChangeVerdict::undecided;
};

struct FleetComparison {
    std::string kind;
    std::string plan;
    std::string revision_a;  ///< of most nodes
    std::string revision_b;
    std::vector<CeilingChange> ceilings;
};

struct FleetChanges {
    std::vector<FleetComparison> kinds{};  ///< kinds and plans that both have
    FleetFindings nodes{};                 ///< of the ratios B to A of nodes in both, judged as rates
    std::vector<std::string> only_a{};     ///< nodes
    std::vector<std::string> only_b{};
};

/// The newest digest of each node, kind and plan counts.
FleetChanges compare_fleets(const Fleet& a, const Fleet& b);

}  // namespace roof::analysis
