// Phases of a training step from the names of recorded ranges.
#pragma once

#include "analysis/recordings/imported.hpp"

namespace roof::analysis {

/// Marks ranges such as "forward", "backward" and "optimizer…" as phases, and "step" or "ProfilerStep#7" as steps.
/// Kernels, copies and calls get the phase during which the host called them.
void attribute_phases(ImportedRow& row);

}  // namespace roof::analysis
