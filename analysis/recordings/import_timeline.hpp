// What the readers of recordings over time share: times on one clock from zero, and what the row measured.
#pragma once

#include "analysis/recordings/imported.hpp"

namespace roof::analysis {

/// Attributes phases, moves the first record's start to zero, and gives the row its time: the median of its steps if it marks
/// any, else the stretch from the first record to the last. Says what a recording of times lacks for a point on a roofline.
void settle_timeline(ImportedRow& row, Imported& imported);

}  // namespace roof::analysis
