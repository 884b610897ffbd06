// One row of `roof run` as text: the step and its interval, rates, losses.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <string>

namespace roof {

/// The text of a row. Without a calibration, it has the command for one instead of the share of the roof.
std::string run_summary(const Measurement& row, const Ceilings& ceilings);

}  // namespace roof
