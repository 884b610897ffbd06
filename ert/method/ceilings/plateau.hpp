// The plateaus of a sweep of rates over working sets: where the levels of memory show, whatever the machine reports.
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
/// In log-log, a sweep is a staircase that may sag: the best split into plateaus (straight, of at most a gentle slope) and
/// points between them (on their way from one to the next) is found by dynamic programming, exactly. Residuals are
/// measured in the noise of the sweep and of each point, and a wild point counts for little more than one left out. Between the
/// first plateau and memory, one whose slope within two deviations may be that of a way down is none.
std::vector<Plateau> find_plateaus(std::span<const RatePoint> sweep);

}  // namespace roof
