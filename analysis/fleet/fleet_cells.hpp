// Parts of tables that several reports about fleets have.
#pragma once

#include "analysis/fleet/fleet_files.hpp"
#include "analysis/table/table.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

std::string chance_text(double chance);
DataTable refused_table(const std::vector<RefusedFolder>& refused);

}  // namespace roof::analysis
