// A study beside an earlier one, its baseline: which points belong together, and what changed.
#pragma once

#include "analysis/study/study.hpp"
#include "analysis/table/table.hpp"

namespace roof::analysis {

/// The baseline's placement of the same step, phase or layer, on different machines whatever its threads; null without one.
const Placement* before(const Study& study, const Placement& now);

/// Each step and layer that the baseline has too, then each ceiling that moved: both values, the ratio with its interval, and what
/// bound them. No rows without a baseline.
DataTable baseline_table(const Study& study);

}  // namespace roof::analysis
