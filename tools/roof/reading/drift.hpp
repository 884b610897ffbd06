// Drift: which ceilings moved since this machine was calibrated last.
#pragma once

#include "analysis/study/compare.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/console/context.hpp"

#include <optional>

namespace roof {

/// `now` against the newest other calibration of the machine by the same plan that has nothing left to measure. Nothing if
/// there is none under `Context::results`.
std::optional<analysis::Comparison> drift_since_last(const Results& now, const Scheduler& scheduler,
                                                     const Context& context);

}  // namespace roof
