// What was found in a fleet, as text, JSON and a page.
#pragma once

#include "analysis/fleet/fleet_comparison.hpp"
#include "analysis/fleet/history.hpp"
#include "analysis/fleet/links.hpp"
#include "analysis/table/table.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

struct FleetSection {
    std::string title;
    std::string lead;
    std::vector<DataTable> tables;
};

/// What all sinks show.
struct FleetReport {
    std::vector<FleetSection> sections;
    std::vector<std::string> notes;
};

/// The nodes that are not fine; the ceilings; what goes with differences; links; refused folders.
FleetReport report_of(const FleetFindings& findings, const std::vector<LinkFindings>& links = {});
FleetReport report_of(const std::vector<HistorySeries>& history, const std::vector<RefusedFolder>& refused);
FleetReport report_of(const FleetChanges& changes);

/// In at most `columns`; 0: unlimited. Of each table the first 1,000 rows.
std::string fleet_text(const FleetReport& report, int columns = 0);

/// {"sections": [{"title", "lead", "tables": [{"title", "rows"}]}], "notes"}, with all rows.
nlohmann::json fleet_json(const FleetReport& report);

/// {"groups": [{"kind", "nodes": [{"node", "finding", "reason", "drain"}], …}], "networks", "links", "aside", "status", "refused",
/// "tests", "notes"}; every node is listed.
nlohmann::json fleet_json(const FleetFindings& findings, const std::vector<LinkFindings>& links = {});

/// One HTML file without script. Of each table it shows the first 1,000 rows.
std::string fleet_page(const FleetReport& report);

// Parts of tables that several reports have.

std::string chance_text(double chance);
DataTable refused_table(const std::vector<RefusedFolder>& refused);

/// The nodes to measure again, sorted: all that are not fine, but for those to be drained.
std::vector<std::string> nodes_to_retest(const FleetFindings& findings);

}  // namespace roof::analysis
