// Facts of nodes (BIOS, kernel, rack, …) that go with a difference of a ceiling: every value of every fact against all other nodes, by
// Mann and Whitney's test, corrected by Holm's method for all of them.
#pragma once

#include "analysis/fleet/judge.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

struct FactsOfNode {
    const std::map<std::string, std::string>* facts;
    const Digest* digest;
};

/// Those that differ materially, the largest difference first. Empty for fewer than `fewest_drained` nodes.
std::vector<Association> find_associations(const FleetGroup& group, const std::vector<FactsOfNode>& nodes);

}  // namespace roof::analysis
