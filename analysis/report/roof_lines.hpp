// The roofs of a roofline picture: bands, drawn before the points, and their names, over them.
#pragma once

#include "analysis/report/svg.hpp"
#include "analysis/roofline/roofs.hpp"

namespace roof::analysis {

/// Bandwidth roofs up to the highest precision, precisions from the ridge of the fastest level on. `plot` spans the frame.
void draw_roofs(Svg& svg, const LogPlot& plot, const Roofs& roofs);

void name_roofs(Svg& svg, const LogPlot& plot, const Roofs& roofs);

}  // namespace roof::analysis
