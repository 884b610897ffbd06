// Shared by the readers of recordings over time.
#pragma once

#include "analysis/recordings/imported.hpp"

namespace roof::analysis {

/// Attributes phases, moves the first start to zero, and sets the time of the row: the median of its marked steps, or
/// the time from the first record to the last. Adds what a recording of times lacks for a point on a roofline.
void complete_timeline(ImportedRow& row, Imported& imported);

}  // namespace roof::analysis
