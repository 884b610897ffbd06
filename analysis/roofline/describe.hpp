// A placement in sentences: what was measured, which roof it is under, and what a first reader would ask of it.
#pragma once

#include "analysis/roofline/place.hpp"

#include <string>

namespace roof::analysis {

/// "resnet50, batch 32, fp32 on cpu, 2 threads".
std::string title_of(const Placement& placement);

/// The point's arithmetic in a sentence: what was counted, what was measured, which roof that is under.
std::string explain(const Placement& placement);
/// What a first reader would ask of a point, each sentence after a blank: why it stands above the farthest level's roof, and what
/// its bytes without reuse would cost. Empty if there is nothing to ask.
std::string remarks_on(const Placement& placement);

}  // namespace roof::analysis
