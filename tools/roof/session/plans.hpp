// Where a plan comes from: a file, or one of those compiled into the binary.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// The plans in this binary by their names, "calibrate/cpu", …: their paths under configs/ without the ending.
std::vector<std::string> built_in_plans();

/// A file's path or a built-in plan's name; a file wins. Throws InputError naming the built-in plans there are.
Plan find_plan(const std::string& file_or_name);

}  // namespace roof
