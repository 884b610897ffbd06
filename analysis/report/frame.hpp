// The frame of a roofline picture: fitted to its points, as in the page (data.js); without points, from the ceilings alone.
#pragma once

#include "analysis/roofline/place.hpp"
#include "analysis/roofline/roofs.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace roof::analysis {

/// The smallest and the largest of positive, finite values.
struct Extent {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;

    /// Ignores other values.
    void add(double value);
    bool empty() const { return high == 0; }
};

/// The largest power of `base` that is at most `value`, and the smallest that is at least `value`.
double power_below(double base, double value);
double power_above(double base, double value);

/// The bounds of the frame.
struct Frame {
    Extent intensity;  ///< FLOP/byte
    Extent rate;       ///< FLOP/s
};

/// The frame over all devices, in whole decades. nullopt without a bandwidth or a compute ceiling.
std::optional<Frame> frame_of(const Ceilings& ceilings);

/// A quarter of a decade around the layers and steps and the roofs that matter to them: the compute roofs, and the farthest
/// level up to its ridge point. The layers with the last two percent of the time do not stretch it. nullopt without a
/// point with bytes.
std::optional<Frame> fitted_frame(const Roofs& roofs, std::vector<const Placement*> points);

/// Ticks of a logarithmic axis: 1, 2 and 5 in each decade, or whole decades where there are more than three.
std::vector<double> decade_ticks(double low, double high);

/// A logarithmic scale from [low, high] onto [from, to]; values outside are clamped.
struct LogScale {
    double low = 1;
    double high = 10;
    double from = 0;
    double to = 1;

    double operator()(double value) const;
    bool holds(double value) const { return value >= low && value <= high; }
};

}  // namespace roof::analysis
