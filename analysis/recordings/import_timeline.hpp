// Shared by the readers of timed recordings.
#pragma once

#include "analysis/recordings/imported.hpp"

namespace roof::analysis {

/// Attributes phases, shifts the first start to zero, and sets the row's time: the median of its marked steps, or the
/// time from the first record to the last. Lists in `imported` what a timeline lacks for a point on a roofline.
void complete_timeline(ImportedRow& row, Imported& imported);

}  // namespace roof::analysis
