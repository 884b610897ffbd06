// One row of `roof run` as text: the step and its interval, rates, losses.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <string>

namespace roof {

/// Without a calibration, the share of the roof is replaced by the command that measures one.
std::string run_summary(const Measurement& row, const Ceilings& ceilings);

}  // namespace roof
