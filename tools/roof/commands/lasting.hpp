// What lasts: the roofs of the newest calibration, repeated for seconds.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"
#include "tools/roof/session/plans.hpp"

#include <string>
#include <vector>

namespace roof {

/// Repeats what makes the roofs of these devices, each point for six seconds: of each precision the fastest
/// multiply-adds, of memory every loop at the largest set of any, with so many threads (0: with each number). Throws
/// InputError if the ceilings have none.
Plan lasting_plan(const Ceilings& ceilings, const std::vector<std::string>& devices, int threads);

}  // namespace roof
