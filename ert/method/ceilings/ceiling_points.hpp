// Which points become ceilings. The fit makes a ceiling of each; the scheduler repeats those that are not steady.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <string>
#include <vector>

namespace roof {

/// The levels of every device and thread count, from its load sweep under default conditions; without one, from the first sweep.
std::vector<MeasuredLevel> find_levels(const std::vector<PointSummary>& points, const Machine& machine);

struct CeilingPoint {
    const PointSummary* point = nullptr;
    std::string level;                      ///< as in Ceiling
    const MeasuredLevel* extent = nullptr;  ///< the plateau; null where there is none
};

/// In the order of the ceilings: arithmetic, levels, NUMA nodes, latencies, paths. The result points into both arguments.
///
/// On a plateau: of all pairs of neighbouring working sets the one whose slower member is fastest, and of it that member. A single lucky
/// point cannot raise it, and a slope towards the next level does not lower it. A latency is taken at the middle of the plateau, since
/// near its lower end the previous level still serves some lines. On a path: the fastest of all message sizes.
std::vector<CeilingPoint> ceiling_points(const std::vector<PointSummary>& points,
                                         const std::vector<MeasuredLevel>& levels);

}  // namespace roof
