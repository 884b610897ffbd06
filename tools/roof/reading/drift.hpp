// Drift: the ceilings that changed since the last calibration of this machine.
#pragma once

#include "analysis/study/compare.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/console/context.hpp"

#include <optional>

namespace roof {

/// Compares `now` with the newest other complete calibration of the machine by the same plan under `Context::results`;
/// nullopt without one.
std::optional<analysis::Comparison> drift_since_last(const Results& now, const Scheduler& scheduler,
                                                     const Context& context);

}  // namespace roof
