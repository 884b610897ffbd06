// Shared by roofline pictures: axes and roofs, drawn before the points, and the names of the roofs, drawn after them.
#pragma once

#include "analysis/report/svg.hpp"
#include "analysis/roofline/place.hpp"
#include "analysis/roofline/roofs.hpp"

namespace roof::analysis {

/// A plot of rates over intensities that spans the frame and ends at `bottom`.
LogPlot roofline_plot(const Frame& frame, double bottom, const std::string& x_label = "arithmetic intensity (FLOP/B)");

/// Draws bandwidth roofs up to the highest precision, and compute roofs from the ridge point of the fastest level on.
/// `plot` spans the frame. The roofs of a data sheet are dashed.
void draw_roofs(Svg& svg, const LogPlot& plot, const Roofs& roofs);

void name_roofs(Svg& svg, const LogPlot& plot, const Roofs& roofs);

/// A picture with axes and roofs. Everything drawn until close() is clipped at the frame.
Svg roofline_svg(double height, const std::string& label, const LogPlot& plot, const Roofs& roofs,
                 const std::string& clip);

/// Circle, square or triangle: forward, backward, update.
Shape shape_of(const Placement& p);
/// The radius whose area is the placement's share of the step's time.
double radius_of(const Placement& p, Seconds step);

}  // namespace roof::analysis
