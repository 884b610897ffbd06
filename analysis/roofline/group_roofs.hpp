// The roofs of several devices that train together, "gpu:0,1": those of each, added. Known: measured, added; that the devices reach
// their ceilings at the same time, with one supply of power and one host, was not measured.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <span>

namespace roof::analysis {

/// `ceilings`, and behind them, for every group of devices that a row of training steps ran on, under the group's name: of each
/// memory level and each precision that all of the group were measured with, the sum of their roofs. Levels hold the sum of what
/// they hold. A group one of whose devices lacks a ceiling has none of that kind. `variant` says
/// "measured, added: gpu:0 + gpu:1".
Ceilings with_groups(Ceilings ceilings, std::span<const Measurement> rows);

}  // namespace roof::analysis
