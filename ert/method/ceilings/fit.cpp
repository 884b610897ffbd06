// From rows to ceilings: summaries of the points, levels, the points that become ceilings, and a ceiling of each.
#include "ert/method/ceilings/ceiling_points.hpp"

#include <algorithm>
#include <map>

namespace roof {
namespace {

std::vector<MeasuredLevel> with_most_threads(const std::vector<MeasuredLevel>& levels)
{
    std::map<std::string, int> most;
    for (const MeasuredLevel& level : levels) most[level.device] = std::max(most[level.device], level.threads);
    std::vector<MeasuredLevel> kept;
    for (const MeasuredLevel& level : levels) {
        if (level.threads == most[level.device]) kept.push_back(level);
    }
    return kept;
}

}  // namespace

Ceilings fit_ceilings(std::span<const Measurement> rows, const Machine& machine)
{
    const std::vector<PointSummary> points = summarize_points(rows);
    const RunClock clock(points);
    Ceilings ceilings;
    ceilings.levels_by_threads = find_levels(points, machine);
    ceilings.levels = with_most_threads(ceilings.levels_by_threads);
    for (const CeilingPoint& chosen : ceiling_points(points, ceilings.levels_by_threads)) {
        Ceiling& ceiling = ceilings.all.emplace_back(make_ceiling(*chosen.point, chosen.level, clock));
        if (chosen.extent == nullptr) continue;
        ceiling.working_set_low = chosen.extent->from;
        ceiling.working_set_high = chosen.extent->to;
    }
    return ceilings;
}

}  // namespace roof
