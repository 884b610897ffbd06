// The plateaus in a sweep of rates over working sets. They show the levels of memory independently of the machine's report.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace roof {

struct RatePoint {
    double working_set = 0;  ///< bytes
    double rate = 0;         ///< any unit
};

/// Indices into the sweep, both included.
struct Plateau {
    std::size_t first = 0;
    std::size_t last = 0;
};

/// `sweep`: by ascending working set, rates above 0. Plateaus come in the same order, each lower than the one before; the last reaches
/// to the end of the sweep, which lies in memory. Fewer than three points have none.
///
/// Interference only slows, and a level that delivers a rate from a large set delivers it from a smaller one. So each point counts as
/// the fastest of itself and all larger sets, after a median of three has removed single outliers. That leaves a staircase; a plateau
/// ends where it falls by more than 0.35 (log2 of rate) per octave, unless the fall is under 16%. It has at least three points, spans an octave and falls by at most 0.22 per octave in all.
std::vector<Plateau> find_plateaus(std::span<const RatePoint> sweep);

}  // namespace roof
