// From rows to ceilings: summaries of the points, levels, and the ceiling of each point that shows one.
#include "ert/method/bench/device_group.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/levels.hpp"
#include "ert/method/ceilings/run_clock.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace roof {
namespace {

bool scales_with_clock(const Ceiling& ceiling)
{
    const LevelKind kind = level_traits(ceiling.level).kind;
    return kind_of_device(ceiling.device) == "cpu" && (kind == LevelKind::core || kind == LevelKind::cache);
}

/// Sets rate, steadiness, clock and the rate per clock and thread.
void set_rate(const PointSummary& point, const RunClock& run, Ceiling& ceiling)
{
    const bool scales = scales_with_clock(ceiling);
    ceiling.clock = scales ? run.under(point) : point.best.clock;
    const bool divides = scales && run.varies(ceiling.device);
    const SustainedRate sustained =
        point.samples.empty()
            ? point.sustained
            : sustained_rate(divides ? run.credible_samples(point) : point.samples, tolerance_of(ceiling.level),
                             divides ? ceiling.clock : Estimate<Hertz>{});
    ceiling.rate = sustained.rate;
    ceiling.steadiness = sustained.steadiness;
    ceiling.rounds = sustained.rounds;
    ceiling.per_clock = sustained.per_clock;
    const double clock = ceiling.clock.median.value;
    if (ceiling.per_clock.n == 0 && clock > 0)
        ceiling.per_clock = {{ceiling.rate.median.value / clock},
                             {ceiling.rate.low.value / clock},
                             {ceiling.rate.high.value / clock},
                             ceiling.rate.n,
                             0};
    for (auto* const end : {&ceiling.per_clock.median, &ceiling.per_clock.low, &ceiling.per_clock.high})
        end->value /= ceiling.threads;
}

Ceiling ceiling_of(const PointSummary& point, std::string_view level, const RunClock& clock)
{
    const Measurement& row = point.best;
    Ceiling ceiling;
    ceiling.device = row.device;
    ceiling.kind = row.role;
    ceiling.level = level;
    ceiling.operation = row.point.text_or("operation", row.bench);
    ceiling.precision = row.point.text_or("precision", "");
    ceiling.isa = row.point.text_or("isa", "");
    ceiling.condition = condition_of(row.point);
    ceiling.threads = point.threads();
    ceiling.packs_cores = row.point.text_or("placement", "cores") == "siblings";
    ceiling.variant = row.variant;
    ceiling.typical = point.typical;
    ceiling.point = row.id();
    if (row.point.has("working_set")) ceiling.working_set = Bytes{row.point.number("working_set")};
    set_rate(point, clock, ceiling);
    return ceiling;
}

/// The point that shows the level. Null if the sweep has none on it.
const PointSummary* point_on(const MeasuredLevel& level, const Sweep& sweep, Role role)
{
    const Sweep on(sweep.lower_bound(level.from.value), sweep.upper_bound(level.to.value));
    if (on.empty()) return nullptr;
    if (role == Role::latency && level.name == memory_level) return on.rbegin()->second;
    if (role == Role::latency) {
        const auto from_middle = [&](const auto& point) {
            const double ratio = point.first / std::sqrt(level.from.value * level.to.value);
            return std::max(ratio, 1 / ratio);
        };
        return std::ranges::min_element(on, {}, from_middle)->second;
    }
    const auto first = std::next(on.begin(), static_cast<std::ptrdiff_t>(fastest_pair(rates_of(on))));
    const auto second = on.size() == 1 ? first : std::next(first);
    return first->second->rate() < second->second->rate() ? first->second : second->second;
}

std::vector<MeasuredLevel> with_most_threads(std::vector<MeasuredLevel> levels)
{
    std::map<std::string, int> most;
    for (const MeasuredLevel& level : levels) most[level.device] = std::max(most[level.device], level.threads);
    std::erase_if(levels, [&](const MeasuredLevel& level) { return level.threads < most[level.device]; });
    return levels;
}

}  // namespace

std::vector<Ceiling> ceilings_of(const std::vector<PointSummary>& points, const std::vector<MeasuredLevel>& levels)
{
    const RunClock clock(points);
    const std::map<SweepKey, Sweep> sweeps = sweeps_in(points);
    std::vector<Ceiling> all;
    const auto add_levels = [&](Role role) {
        for (const auto& [key, sweep] : sweeps) {
            for (const MeasuredLevel& level : levels) {
                if (key.role != role || level.device != key.device || level.threads != key.threads) continue;
                if (!is_answered_by(level, sweep.begin()->second->best)) continue;
                const PointSummary* const point = point_on(level, sweep, role);
                if (point == nullptr) continue;
                Ceiling& ceiling = all.emplace_back(ceiling_of(*point, level.name, clock));
                ceiling.working_set_low = level.from;
                ceiling.working_set_high = level.to;
            }
        }
    };
    std::vector<const PointSummary*> of_nodes;
    std::vector<const PointSummary*> of_paths;
    for (const PointSummary& point : points) {
        const Point& at = point.best.point;
        const Role role = point.best.role;
        if (point.rounds == 0) continue;
        // Points with an intensity measure the attainable rate below the ceilings, not a ceiling.
        if (role == Role::compute && !at.has("intensity")) all.push_back(ceiling_of(point, core_level, clock));
        // A single rank has no path.
        if (role != Role::compute && at.has("path") && at.text_or("operation", "") != "alone")
            of_paths.push_back(&point);
        if (role == Role::bandwidth && at.has("cpu_node") && at.has("working_set") && !at.has("path"))
            of_nodes.push_back(&point);
    }
    add_levels(Role::bandwidth);
    for (const PointSummary* const point : of_nodes) all.push_back(ceiling_of(*point, memory_level, clock));
    add_levels(Role::latency);
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> of_sizes;
    for (const PointSummary* const point : of_paths) {
        const Point& at = point->best.point;
        const std::tuple key{point->best.device, at.text("path"), at.text_or("operation", point->best.bench)};
        Ceiling ceiling = ceiling_of(*point, at.text("path"), clock);
        const auto [place, is_first] = of_sizes.try_emplace(key, all.size());
        if (is_first || !at.has("size"))
            all.push_back(std::move(ceiling));
        else if (all[place->second].rate.median < ceiling.rate.median)
            all[place->second] = std::move(ceiling);
    }
    return all;
}

Ceilings fit_ceilings(std::span<const Measurement> rows, const Machine& machine)
{
    const std::vector<PointSummary> points = summarize_points(rows);
    const std::vector<MeasuredLevel> levels = find_levels(points, machine);
    return {ceilings_of(points, levels), with_most_threads(levels), levels};
}

}  // namespace roof
