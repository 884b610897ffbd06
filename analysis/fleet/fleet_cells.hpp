// Parts of tables that several reports about fleets have.
#pragma once

#include "analysis/fleet/fleet_files.hpp"
#include "analysis/table/table.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// "1 node", "2 nodes".
std::string counted(std::size_t number, std::string_view thing);
std::string chance_text(double chance);
DataTable refused_table(const std::vector<RefusedFolder>& refused);

}  // namespace roof::analysis
