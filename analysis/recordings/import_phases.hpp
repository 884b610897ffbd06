// Phases of a training step from the names that programs give to stretches of their time.
#pragma once

#include "analysis/recordings/imported.hpp"

namespace roof::analysis {

/// Marks ranges called "forward", "backward", "optimizer…" and their like as phases, and "step" or "ProfilerStep#7" as steps;
/// then gives kernels, copies and calls the phase during which the host asked for them.
void attribute_phases(ImportedRow& row);

}  // namespace roof::analysis
