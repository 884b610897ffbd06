// Which points become ceilings (ceiling_points.cpp), and the ceiling of a point (ceiling_maker.cpp). The fit makes a ceiling of each; the
// scheduler repeats those that are not steady.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/ceilings/run_clock.hpp"

#include <string>
#include <string_view>
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

/// The point's value on the axis, or `otherwise` where it has none.
std::string text_or(const Point& point, std::string_view axis, std::string_view otherwise);

/// The thread count; 1 where the point has none.
int threads_of(const Point& point);

/// The non-default conditions of a point, for display: "small pages, siblings"; empty for the defaults.
std::string condition_of(const Point& point);

/// The ceiling of a level, or of a path, by this point. The core, L1, L2 and L3 of a CPU scale with its clock; where that varied, their
/// rate is the one per clock times the run's clock. A GPU's clock depends on the kernel's power, so its rates stay as measured.
Ceiling make_ceiling(const PointSummary& point, const std::string& level, const RunClock& clock);

}  // namespace roof
