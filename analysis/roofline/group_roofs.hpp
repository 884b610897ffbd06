// The roofs of several devices that train together ("gpu:0,1"): the sums of their roofs. Known: measured and added.
// Whether the devices reach their ceilings at the same time was not measured.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <span>

namespace roof::analysis {

/// Appends the summed roofs of each group of devices that a training step ran on: one for each memory level and
/// precision, under the group's name. A ceiling that any of the devices lacks is left out. Capacities of levels are
/// summed, too. `variant` is "measured, added: gpu:0 + gpu:1".
Ceilings with_groups(Ceilings ceilings, std::span<const Measurement> rows);

}  // namespace roof::analysis
