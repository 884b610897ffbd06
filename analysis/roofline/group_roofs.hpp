// The roofs of several devices that train together ("gpu:0,1"): the sums of their roofs. Known: measured and added.
// It was not measured whether the devices reach their ceilings at the same time.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <span>

namespace roof::analysis {

/// Appends to `ceilings`, for each group of devices that a training step ran on, the sum of the roofs of each memory
/// level and each precision, under the name of the group. A ceiling that one of the devices lacks is left out.
/// Capacities of levels are added, too. `variant` is "measured, added: gpu:0 + gpu:1".
Ceilings with_groups(Ceilings ceilings, std::span<const Measurement> rows);

}  // namespace roof::analysis
