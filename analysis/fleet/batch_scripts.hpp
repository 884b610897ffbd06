// The scripts for batch systems: fleet_scripts.hpp says what they have in common.
#pragma once

#include "analysis/fleet/fleet_scripts.hpp"

namespace roof::analysis {

/// One array of jobs. Its tasks are held until each has its node: an array's tasks share their options, and jobs that are throttled by
/// dependencies would wait behind a node that is down.
std::string slurm_script(const FleetScript& script);

/// One job for each node. PBS cannot give the jobs of an array different nodes, so the script submits up to `at_once` and says how many are
/// left.
std::string pbs_script(const FleetScript& script);

}  // namespace roof::analysis
