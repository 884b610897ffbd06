// What was found in a fleet, as text, JSON and a page.
#pragma once

#include "analysis/fleet/judge.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace roof::analysis {

/// The nodes that are slow, implausible, undecided or missing; the ceilings; what goes with differences; refused folders. In at most
/// `columns`; 0: unlimited.
std::string fleet_text(const FleetFindings& findings, int columns = 0);

/// {"groups": [{"kind", "nodes": [{"node", "finding", "drain", …}], …}], "missing", "refused", "tests", "notes"}; every node is listed.
nlohmann::json fleet_json(const FleetFindings& findings);

/// One HTML file without script. Of each table it shows the first 1,000 rows.
std::string fleet_page(const FleetFindings& findings);

/// The nodes to measure again, sorted: slow ones that no other day confirms, implausible, undecided and missing ones.
std::vector<std::string> nodes_to_retest(const FleetFindings& findings);

}  // namespace roof::analysis
