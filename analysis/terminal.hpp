// The hierarchical roofline for a terminal.
#pragma once

#include "analysis/study.hpp"

#include <string>

namespace roof::analysis {

/// Log-log: every level's and every precision's roof at the most threads, one drawing per device, and a letter per
/// measured step with a legend. `width` in columns, at least 40; `plain` keeps to ASCII. The axes depend on the ceilings
/// alone; without ceilings it says so and draws nothing.
std::string terminal_roofline(const Study& study, int width, bool plain);

}  // namespace roof::analysis
