// Finds a plan in a file or among the plans compiled into the binary.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// Names of the built-in plans, such as "calibrate/cpu": their paths under configs/ without the suffix.
std::vector<std::string> built_in_plans();

/// `file_or_name`: the path of a file, else the name of a built-in plan. Throws InputError listing the plans.
Plan find_plan(const std::string& file_or_name);

}  // namespace roof
