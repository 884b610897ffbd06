// Finds a plan: a file, or one compiled into the binary.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// Names of the built-in plans, "calibrate/cpu", …: their paths under configs/ without the ending.
std::vector<std::string> built_in_plans();

/// `file_or_name`: the path of a file, or else the name of a built-in plan. Throws InputError that lists the built-in plans.
Plan find_plan(const std::string& file_or_name);

}  // namespace roof
