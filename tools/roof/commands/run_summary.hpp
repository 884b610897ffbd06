// One row of `roof run` for people: the step and its interval, rates with the name of each, losses.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <string>

namespace roof {

/// Without a calibration the share of the roof is replaced by the command that would measure one.
std::string run_summary(const Measurement& row, const Ceilings& ceilings);

}  // namespace roof
