// Makes a ceiling from the summary of a point, with the tolerance of its level and the clock of the run.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/ceilings/run_clock.hpp"

#include <string>
#include <string_view>

namespace roof {

/// The point's value on the axis, or `otherwise` where it has none.
std::string text_or(const Point& point, std::string_view axis, std::string_view otherwise);

/// The thread count; 1 where the point has none.
int threads_of(const Point& point);

/// The non-default conditions of a point, for display: "small pages, siblings"; empty for the defaults.
std::string condition_of(const Point& point);

/// The ceiling of a level, or of a path, by this point. The core, L1, L2 and L3 of a CPU scale with its clock; where that varied, their
/// rate is the one per clock times the run's clock. A GPU's clock depends on the kernel's power, so its rates stay as measured.
Ceiling make_ceiling(const PointSummary& point, const std::string& level, const RunClock& clock);

}  // namespace roof
