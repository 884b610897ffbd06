// The frame of a roofline picture. It depends on the ceilings alone, so pictures of one machine are comparable.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <limits>
#include <optional>

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

/// The bounds of the frame, in whole decades.
struct Frame {
    double intensity_low = 0;  ///< FLOP/byte
    double intensity_high = 0;
    double rate_low = 0;  ///< FLOP/s
    double rate_high = 0;
};

/// The frame over all devices. nullopt without a bandwidth or a compute ceiling.
std::optional<Frame> frame_of(const Ceilings& ceilings);

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
