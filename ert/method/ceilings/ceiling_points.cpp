#include "ert/method/ceilings/ceiling_points.hpp"

#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/levels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace roof {
namespace {

/// Role, device, threads, condition, operation; and the instructions if they bypass the L1, else empty.
using SweepKey = std::tuple<Role, std::string, int, std::string, std::string, std::string>;
using Sweeps = std::map<SweepKey, Sweep>;

double rate_of(const PointSummary& point)
{
    return point.sustained.rate.median.value;
}

bool is_of_path(const Measurement& row)
{
    return row.point.has("path") && row.role != Role::compute;
}

bool is_of_sweep(const Measurement& row)
{
    return (row.role == Role::bandwidth || row.role == Role::latency) && row.point.has("working_set") &&
           !row.point.has("cpu_node") && !is_of_path(row);
}

/// The working-set sweeps. At each size the fastest point counts.
Sweeps sweeps_in(const std::vector<PointSummary>& points)
{
    Sweeps sweeps;
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        if (point.rounds == 0 || !is_of_sweep(row)) continue;
        const SweepKey key{row.role,
                           row.device,
                           threads_of(row.point),
                           condition_of(row.point),
                           text_or(row.point, "operation", row.bench),
                           passes_l1(row) ? text_or(row.point, "isa", "") : ""};
        const auto [place, is_new] = sweeps[key].try_emplace(row.point.number("working_set"), &point);
        if (!is_new && rate_of(*place->second) < rate_of(point)) place->second = &point;
    }
    return sweeps;
}

/// Null if the sweep has no point on the level.
const PointSummary* best_of_pairs(const Sweep& sweep, const MeasuredLevel& level)
{
    const PointSummary* best = nullptr;
    const PointSummary* previous = nullptr;
    const auto end = sweep.upper_bound(level.to.value);
    for (auto at = sweep.lower_bound(level.from.value); at != end; ++at) {
        const PointSummary* const point = at->second;
        const bool previous_is_slower = previous != nullptr && rate_of(*previous) < rate_of(*point);
        const PointSummary* const slower = previous_is_slower ? previous : point;
        const bool is_pair = previous != nullptr || std::next(at) == end;
        if (is_pair && (best == nullptr || rate_of(*best) < rate_of(*slower))) best = slower;
        previous = point;
    }
    return best;
}

/// The point nearest to the middle (in octaves) of the level; for memory the last. Null if there is none.
const PointSummary* in_the_middle(const Sweep& sweep, const MeasuredLevel& level)
{
    const PointSummary* nearest = nullptr;
    double least = level.to / level.from;  // a distance, as a ratio
    for (const auto& [bytes, point] : sweep) {
        if (bytes < level.from.value || bytes > level.to.value) continue;
        const double ratio = bytes / std::sqrt(level.from.value * level.to.value);
        const double distance = std::max(ratio, 1 / ratio);
        if (level.name != memory_level && nearest != nullptr && distance >= least) continue;
        nearest = point;
        least = distance;
    }
    return nearest;
}

void add_level_points(Role role, const Sweeps& sweeps, const std::vector<MeasuredLevel>& levels,
                      std::vector<CeilingPoint>& chosen)
{
    for (const auto& [key, sweep] : sweeps) {
        if (std::get<Role>(key) != role) continue;
        for (const MeasuredLevel& level : levels) {
            if (level.device != std::get<1>(key) || level.threads != std::get<2>(key)) continue;
            if (!is_answered_by(level, sweep.begin()->second->best)) continue;
            const bool is_latency = role == Role::latency;
            const PointSummary* const point = is_latency ? in_the_middle(sweep, level) : best_of_pairs(sweep, level);
            if (point != nullptr) chosen.push_back({point, level.name, &level});
        }
    }
}

/// A single rank has no path and gives none.
void add_path_points(const std::vector<PointSummary>& points, std::vector<CeilingPoint>& chosen)
{
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> of_sizes;
    for (const PointSummary& point : points) {
        const Point& at = point.best.point;
        if (point.rounds == 0 || !is_of_path(point.best) || text_or(at, "operation", "") == "alone") continue;
        const CeilingPoint made{&point, at.text("path"), nullptr};
        const std::tuple key{point.best.device, at.text("path"), text_or(at, "operation", point.best.bench)};
        const auto [place, is_first] = of_sizes.try_emplace(key, chosen.size());
        if (is_first || !at.has("size"))
            chosen.push_back(made);
        else if (rate_of(*chosen[place->second].point) < rate_of(point))
            chosen[place->second] = made;
    }
}

}  // namespace

std::vector<MeasuredLevel> find_levels(const std::vector<PointSummary>& points, const Machine& machine)
{
    const Sweeps sweeps = sweeps_in(points);
    std::map<std::pair<std::string, int>, const Sweep*> chosen;
    for (const auto& [key, sweep] : sweeps) {
        const auto& [role, device, threads, condition, operation, past_l1] = key;
        if (role != Role::bandwidth || !condition.empty() || !past_l1.empty()) continue;
        const auto [place, is_first] = chosen.try_emplace({device, threads}, &sweep);
        if (!is_first && operation == "load") place->second = &sweep;
    }
    std::vector<MeasuredLevel> all;
    for (const auto& [key, sweep] : chosen) {
        const auto& [device, threads] = key;
        std::vector<MeasuredLevel> levels = levels_of(*sweep, device, threads, machine);
        const auto past = sweeps.find({Role::bandwidth, device, threads, "", "load", "cg"});
        if (past != sweeps.end())
            levels = with_levels_past_l1(levels, levels_of(past->second, device, threads, machine, 2));
        all.insert(all.end(), levels.begin(), levels.end());
    }
    compare_thread_counts(all, machine);
    return all;
}

std::vector<CeilingPoint> ceiling_points(const std::vector<PointSummary>& points,
                                         const std::vector<MeasuredLevel>& levels)
{
    const Sweeps sweeps = sweeps_in(points);
    std::vector<CeilingPoint> chosen;
    // Points with an intensity measure the attainable rate below the ceilings, not a ceiling.
    for (const PointSummary& point : points)
        if (point.rounds > 0 && point.best.role == Role::compute && !point.best.point.has("intensity"))
            chosen.push_back({&point, std::string(core_level), nullptr});
    add_level_points(Role::bandwidth, sweeps, levels, chosen);
    for (const PointSummary& point : points)
        if (point.rounds > 0 && point.best.role == Role::bandwidth && point.best.point.has("cpu_node") &&
            point.best.point.has("working_set") && !is_of_path(point.best))
            chosen.push_back({&point, std::string(memory_level), nullptr});
    add_level_points(Role::latency, sweeps, levels, chosen);
    add_path_points(points, chosen);
    return chosen;
}

}  // namespace roof
