// From rows to ceilings. Rows of the same point are summarized first (point_summary.hpp). A compute ceiling is one
// point. A bandwidth ceiling is a plateau of a working-set sweep. Plateaus are found on the load sweep of each thread
// count (levels.hpp), confirmed by the sweeps of the others (confirmation.hpp), and used for the other operations of
// that thread count. A probe with its own path, such as a host link, gives a ceiling of that path, which is not part of
// the roofline.
//
// Estimator of a plateau's rate: of all pairs of neighbouring working sets on the plateau, take the pair whose slower
// member is fastest; that member's estimate is the ceiling. A single lucky point cannot raise it, and a slope towards
// the next level does not lower it. A latency is taken at the middle of the plateau, since near its lower end the
// previous level still serves some lines.
//
// ceiling_maker.cpp derives a ceiling's rate and interval from its point. With almost no undisturbed sample, the
// interval reaches from the typical rate to the possible rate without the disturbance.
#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/ceilings/ceiling_maker.hpp"
#include "ert/method/ceilings/confirmation.hpp"
#include "ert/method/ceilings/levels.hpp"
#include "ert/method/ceilings/spec_rate.hpp"
#include "ert/method/ceilings/steadiness.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace roof {

namespace {

/// Device, threads, condition, operation; and the instructions if they bypass the L1, else empty.
using SweepKey = std::tuple<std::string, int, std::string, std::string, std::string>;
using Sweeps = std::map<SweepKey, Sweep>;

void add_to_sweeps(const PointSummary& point, Sweeps& sweeps)
{
    const Measurement& row = point.best;
    const SweepKey key{row.device, threads_of(row.point), condition_of(row.point),
                       text_or(row.point, "operation", row.bench), passes_l1(row) ? text_or(row.point, "isa", "") : ""};
    const auto [place, is_new] = sweeps[key].try_emplace(row.point.number("working_set"), &point);
    if (!is_new && place->second->rate.median < point.rate.median) place->second = &point;
}

/// The fastest of many message sizes gives the path's ceiling. A single rank has no path and gives none.
void add_of_path(const PointSummary& point, const CeilingMaker& maker, std::vector<Ceiling>& of_paths)
{
    const Point& at = point.best.point;
    if (text_or(at, "operation", "") == "alone") return;
    Ceiling ceiling = maker.make(point, at.text("path"));
    const auto same = std::ranges::find_if(of_paths, [&](const Ceiling& other) {
        return at.has("size") && other.device == ceiling.device && other.level == ceiling.level &&
               other.operation == ceiling.operation;
    });
    if (same == of_paths.end())
        of_paths.push_back(std::move(ceiling));
    else if (same->rate.median < ceiling.rate.median)
        *same = std::move(ceiling);
}

/// The estimator described above. Null if the sweep has no point on the level.
const PointSummary* best_held(const Sweep& sweep, const MeasuredLevel& level)
{
    const PointSummary* best = nullptr;
    const PointSummary* previous = nullptr;
    const auto end = sweep.upper_bound(level.to.value);
    for (auto at = sweep.lower_bound(level.from.value); at != end; ++at) {
        const PointSummary* const point = at->second;
        const bool previous_is_slower = previous != nullptr && previous->rate.median < point->rate.median;
        const PointSummary* const slower = previous_is_slower ? previous : point;
        const bool is_pair = previous != nullptr || std::next(at) == end;
        if (is_pair && (best == nullptr || best->rate.median < slower->rate.median)) best = slower;
        previous = point;
    }
    return best;
}

/// The point nearest to the middle of the level. For memory: the largest.
const PointSummary* in_the_middle(const Sweep& sweep, const MeasuredLevel& level)
{
    if (sweep.empty()) return nullptr;
    if (level.name == memory_level) return sweep.rbegin()->first >= level.from.value ? sweep.rbegin()->second : nullptr;
    const double middle = 0.5 * (std::log(level.from.value) + std::log(level.to.value));
    const PointSummary* nearest = nullptr;
    double distance = 0;
    for (const auto& [bytes, point] : sweep) {
        if (bytes < level.from.value || bytes > level.to.value) continue;
        const double away = std::abs(std::log(bytes) - middle);
        if (nearest != nullptr && away >= distance) continue;
        nearest = point;
        distance = away;
    }
    return nearest;
}

/// The sweep of loads that bypass the L1. Null if there is none.
const Sweep* loads_past_l1(const Sweeps& sweeps, const std::string& device, int threads)
{
    const auto found = sweeps.find({device, threads, "", "load", "cg"});
    return found == sweeps.end() ? nullptr : &found->second;
}

/// For every device and thread count, the load sweep under default conditions. Without one, the first sweep.
std::vector<SweptLevels> swept_levels(const Sweeps& sweeps, const Machine& machine)
{
    std::map<std::pair<std::string, int>, const Sweep*> chosen;
    for (const auto& [key, sweep] : sweeps) {
        const auto& [device, threads, condition, operation, past_l1] = key;
        if (!condition.empty() || !past_l1.empty()) continue;
        const auto [place, is_first] = chosen.try_emplace({device, threads}, &sweep);
        if (!is_first && operation == "load") place->second = &sweep;
    }
    std::vector<SweptLevels> swept;
    for (const auto& [key, sweep] : chosen) {
        SweptLevels& of_sweep = swept.emplace_back();
        for (const auto& [bytes, point] : *sweep) {
            of_sweep.sizes.push_back(bytes);
            if (!point->disturbed) of_sweep.undisturbed.push_back(bytes);
        }
        of_sweep.levels = levels_of(*sweep, key.first, key.second, machine);
        if (const Sweep* const past = loads_past_l1(sweeps, key.first, key.second))
            of_sweep.levels = with_levels_past_l1(of_sweep.levels, levels_of(*past, key.first, key.second, machine, 2));
    }
    return swept;
}

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

void add_levels(const Sweeps& sweeps, const Machine& machine, Ceilings& ceilings)
{
    std::vector<SweptLevels> swept = swept_levels(sweeps, machine);
    ceilings.unconfirmed = take_out_unconfirmed(swept);
    std::vector<MeasuredLevel>& levels = ceilings.levels_by_threads;
    for (const SweptLevels& sweep : swept) levels.insert(levels.end(), sweep.levels.begin(), sweep.levels.end());
    compare_thread_counts(levels, machine);
    ceilings.levels = with_most_threads(levels);
}

using Choose = const PointSummary* (*)(const Sweep&, const MeasuredLevel&);

void add_level_ceilings(const Sweeps& sweeps, Choose choose, const CeilingMaker& maker, Ceilings& ceilings)
{
    for (const auto& [key, sweep] : sweeps) {
        for (const MeasuredLevel& level : ceilings.levels_by_threads) {
            if (level.device != std::get<0>(key) || level.threads != std::get<1>(key)) continue;
            if (sweep.empty() || !is_answered_by(level, sweep.begin()->second->best)) continue;
            if (const PointSummary* const point = choose(sweep, level))
                ceilings.all.push_back(maker.make(*point, level));
        }
    }
}

const Ceiling* with_one_thread(const Ceiling& ceiling, const std::vector<Ceiling>& all)
{
    const auto found = std::ranges::find_if(all, [&](const Ceiling& other) {
        return other.threads == 1 && other.device == ceiling.device && other.kind == ceiling.kind &&
               other.level == ceiling.level && other.operation == ceiling.operation &&
               other.precision == ceiling.precision && other.isa == ceiling.isa &&
               other.condition == ceiling.condition && !other.disturbed;
    });
    return found == all.end() ? nullptr : &*found;
}

/// Without the disturbance, several threads may reach the sum of their single rates, and one thread on a shared core
/// twice its measured rate. With so few undisturbed samples the true rate may also be as low as the typical one.
void widen_where_disturbed(std::vector<Ceiling>& all)
{
    for (Ceiling& ceiling : all) {
        if (!ceiling.disturbed) continue;
        const Ceiling* const alone = ceiling.threads > 1 ? with_one_thread(ceiling, all) : nullptr;
        const Quantity<0, 0, -1> most = alone ? ceiling.threads * alone->rate.high : 2 * ceiling.rate.median;
        ceiling.rate.high = std::max(ceiling.rate.high, most);
        if (ceiling.typical > 0) ceiling.rate.low.value = std::min(ceiling.rate.low.value, ceiling.typical);
    }
}

/// The working-set sweeps among the points.
struct AllSweeps {
    Sweeps bandwidths;
    Sweeps latencies;
};

bool is_of_path(const Measurement& row)
{
    return row.point.has("path") && row.role != Role::compute;
}

AllSweeps sweeps_in(const std::vector<PointSummary>& points)
{
    AllSweeps sweeps;
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        if (point.rounds == 0 || is_of_path(row) || !row.point.has("working_set")) continue;
        if (row.role == Role::latency) add_to_sweeps(point, sweeps.latencies);
        if (row.role == Role::bandwidth && !row.point.has("cpu_node")) add_to_sweeps(point, sweeps.bandwidths);
    }
    return sweeps;
}

void add_compute_ceilings(const std::vector<PointSummary>& points, const CeilingMaker& maker, std::vector<Ceiling>& all)
{
    for (const PointSummary& point : points) {
        // Points with an intensity measure the attainable rate below the ceilings, not a ceiling.
        if (point.rounds == 0 || point.best.role != Role::compute || point.best.point.has("intensity")) continue;
        all.push_back(maker.make(point, std::string(core_level)));
    }
}

void add_node_ceilings(const std::vector<PointSummary>& points, const CeilingMaker& maker, std::vector<Ceiling>& all)
{
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        const bool is_of_node =
            row.role == Role::bandwidth && row.point.has("working_set") && row.point.has("cpu_node");
        if (point.rounds > 0 && is_of_node && !is_of_path(row))
            all.push_back(maker.make(point, std::string(memory_level)));
    }
}

void add_path_ceilings(const std::vector<PointSummary>& points, const CeilingMaker& maker, std::vector<Ceiling>& all)
{
    std::vector<Ceiling> of_paths;
    for (const PointSummary& point : points)
        if (point.rounds > 0 && is_of_path(point.best)) add_of_path(point, maker, of_paths);
    all.insert(all.end(), of_paths.begin(), of_paths.end());
}

}  // namespace

Ceilings fit_ceilings(std::span<const Measurement> rows, const Machine& machine)
{
    return fit_ceilings(rows, summarize_points(rows), machine);
}

Ceilings fit_ceilings(std::span<const Measurement> rows, const std::vector<PointSummary>& points,
                      const Machine& machine)
{
    const AllSweeps sweeps = sweeps_in(points);
    Ceilings ceilings;
    add_levels(sweeps.bandwidths, machine, ceilings);
    const CeilingMaker maker(rows, points, ceilings.levels_by_threads);
    add_compute_ceilings(points, maker, ceilings.all);
    add_level_ceilings(sweeps.bandwidths, best_held, maker, ceilings);
    add_node_ceilings(points, maker, ceilings.all);
    add_level_ceilings(sweeps.latencies, in_the_middle, maker, ceilings);
    add_path_ceilings(points, maker, ceilings.all);
    widen_where_disturbed(ceilings.all);
    for (Ceiling& ceiling : ceilings.all) {
        ceiling.steadiness = steadiness_of(ceiling);
        reach_up_to_spec(ceiling, machine);
    }
    return ceilings;
}

}  // namespace roof
