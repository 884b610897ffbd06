// Facts of nodes, such as BIOS or rack, that go with a difference of a ceiling.
#pragma once

#include "analysis/fleet/members.hpp"

#include <vector>

namespace roof::analysis {

/// Every value of every fact against all other nodes, by Mann and Whitney's test, corrected by Holm's method for all of them. Those that
/// differ materially, the largest difference first; none for fewer than `fewest_drained` nodes.
std::vector<Association> find_associations(const FleetGroup& group, const std::vector<Member>& nodes);

}  // namespace roof::analysis
