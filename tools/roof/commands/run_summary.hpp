// One row of `roof run` as text: the step and its interval, rates, losses.
#pragma once

#include "analysis/study/study.hpp"

#include <string>

namespace roof {

/// The text of a row. Without a calibration, it has the command for one instead of the share of the roof.
std::string run_summary(const Measurement& row, const analysis::Study& study);

}  // namespace roof
