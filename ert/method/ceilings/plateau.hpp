// The plateaus in a sweep of rates over working sets. They show the levels of memory independently of the machine's report.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace roof {

struct RatePoint {
    double working_set = 0;  ///< bytes
    double rate = 0;         ///< any unit
    double uncertainty = 0;  ///< half the width of its interval, as a share of the rate
};

/// Indices into the sweep, both included.
struct Plateau {
    std::size_t first = 0;
    std::size_t last = 0;
};

/// `sweep`: by ascending working set, rates above 0. Plateaus come in the same order, each lower than the one before.
/// Fewer than three points have none.
///
/// In log-log, a sweep is a staircase whose steps may sag. The best split into plateaus (straight lines of a gentle slope) and
/// points between plateaus is found exactly, by dynamic programming. Residuals are measured in units of the noise of the sweep and
/// of each point; an outlier costs little more than a point left out. Between the first plateau and memory, a plateau whose slope
/// may be that of a descent, within two deviations, is dropped.
std::vector<Plateau> find_plateaus(std::span<const RatePoint> sweep);

}  // namespace roof
