// The plateaus of curves over working sets: where a memory level ends and the next one begins.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace roof {

struct RatePoint {
    double working_set = 0;  ///< bytes
    double rate = 0;         ///< the fastest; any unit
    double typical = 0;      ///< the median
};

/// Loads, or accesses of a chase, by ascending working set; rates above 0.
struct RateCurve {
    std::vector<RatePoint> points;
    /// Of its logarithm beside that of other curves. Levels differ more in latency than in bandwidth, and within one
    /// level latency rises more, with the pages that are in use.
    double weight = 1;
};

/// Working sets in bytes, both included.
struct WorkingSets {
    double low = 0;
    double high = 0;
};

struct Plateau {
    WorkingSets flat;  ///< the curves' working sets between the rise from the level before and that to the next
    /// The working set of which half of the lines come from farther away; 0 for the last plateau, which has no end.
    double edge = 0;
};

/// The plateaus that all curves together show, by ascending working set; the last reaches to the end of the curves.
/// None where the first curve has fewer than three points.
///
/// Of all ways to cut the curves into plateaus and ascents between them, the one with the least sum of: the rise of
/// cost (log2 of the time of a line) within plateaus, 0.22 for each octave of an ascent, twice that beyond three
/// octaves, and 0.13 for each plateau. So a level ends where cost rises by more than that, whether at once or over two
/// octaves, and a slow rise stays in its level. A plateau spans at least 0.4 octaves.
///
/// Then a plateau is joined to the next where the last curve with sets on both sides shows no edge between them; or
/// where none does by its typical rates, which fall less than half as much as the fastest, because only some of the
/// nearer sets met a moment without interference.
///
/// Interference only slows, and a level that delivers a rate from a large set delivers it from a smaller one: each
/// point counts as the fastest of itself and all larger sets, after a median of three has removed single outliers.
/// Curves with points at other working sets are interpolated (log of rate over log of set).
///
/// `edges`: where each edge has to lie; their number then fixes the number of plateaus, one more. Empty: any number
/// from one to `most`.
inline constexpr std::size_t most_levels = 7;
std::vector<Plateau> find_plateaus(std::span<const RateCurve> curves, std::span<const WorkingSets> edges = {},
                                   std::size_t most = most_levels);

}  // namespace roof
