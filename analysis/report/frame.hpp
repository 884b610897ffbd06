// The frame of a roofline picture. It comes from the ceilings alone, never from the points, so two runs on one machine are
// drawn in the same frame and a layer that got faster is seen to have moved.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <optional>

namespace roof::analysis {

/// Whole decades.
struct Frame {
    double intensity_low = 0;  ///< FLOP/byte
    double intensity_high = 0;
    double rate_low = 0;  ///< FLOP/s
    double rate_high = 0;
};

/// Over all devices. Nothing unless there is at least one bandwidth and one compute ceiling.
std::optional<Frame> frame_of(const Ceilings& ceilings);

/// A logarithmic scale from [low, high] onto [from, to]; values outside are put on the edge.
struct LogScale {
    double low = 1;
    double high = 10;
    double from = 0;
    double to = 1;

    double operator()(double value) const;
    bool holds(double value) const { return value >= low && value <= high; }
};

}  // namespace roof::analysis
