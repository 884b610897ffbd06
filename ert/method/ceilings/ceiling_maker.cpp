// Arithmetic and caches scale with the core's clock. Their ceiling is the rate per clock times the clock that the cores
// sustained over all rows (core_clock.hpp), and its interval is the product of both intervals. If a last-level cache
// has its own clock, the spread of the cores' clock becomes part of the interval. With few rounds, the spread between
// rounds of the same level widens the interval (round_spread.hpp). If rounds disagree, the interval spans all samples.
#include "ert/method/ceilings/ceiling_maker.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/levels.hpp"
#include "ert/method/ceilings/steadiness.hpp"

#include <algorithm>

namespace roof {

namespace {

/// The level of the row's working set; empty for a size between two levels.
std::string level_at(const Measurement& row, const std::vector<MeasuredLevel>& levels)
{
    if (row.role == Role::compute || !row.point.has("working_set")) return std::string(core_level);
    const double bytes = row.point.number("working_set");
    for (const MeasuredLevel& level : levels) {
        if (level.device != row.device || level.threads != threads_of(row.point) || !is_answered_by(level, row))
            continue;
        if (level.from.value <= bytes && bytes <= level.to.value) return level.name;
    }
    return {};
}

std::string group_of(const Measurement& row, const std::string& level)
{
    const bool is_past_caches = text_or(row.point, "operation", "").ends_with("_nt");
    return row.device + " " + std::string(name(row.role)) + " " + std::to_string(threads_of(row.point)) + " " + level +
           (is_past_caches ? " past the caches" : "");
}

template <class Unit>
void widen(const RoundSpread::Bounds& bounds, Estimate<Unit>& estimate)
{
    estimate.low = std::min(estimate.low, bounds.low * estimate.median);
    estimate.high = std::max(estimate.high, bounds.high * estimate.median);
}

/// Sets the rate of a level that scales with the clock. `per_clock`: sum over all threads.
void set_at(const Estimate<Hertz>& clock, const Estimate<Quantity<0, 0, 0>>& per_clock, Ceiling& ceiling)
{
    ceiling.clock = clock;
    ceiling.rate.median = per_clock.median * clock.median;
    ceiling.rate.low = per_clock.low * clock.low;
    ceiling.rate.high = per_clock.high * clock.high;
    ceiling.rate.n = per_clock.n;
}

/// Disagreeing rounds indicate interference that is longer than a round. The interval then reaches from the median
/// sample to the fastest.
void span_all_samples(const PointSummary& point, Ceiling& ceiling)
{
    if (ceiling.steadiness == Steadiness::steady || point.fastest <= 0) return;
    ceiling.rate.low.value = std::min(ceiling.rate.low.value, point.median_rate);
    ceiling.rate.high.value = std::max(ceiling.rate.high.value, point.fastest);
}

}  // namespace

std::string text_or(const Point& point, std::string_view axis, std::string_view otherwise)
{
    return std::string(point.has(axis) ? std::string_view(point.text(axis)) : otherwise);
}

int threads_of(const Point& point)
{
    return point.has("threads") ? static_cast<int>(point.integer("threads")) : 1;
}

std::string condition_of(const Point& point)
{
    std::vector<std::string> conditions;
    if (text_or(point, "placement", "cores") != "cores") conditions.push_back(point.text("placement"));
    if (text_or(point, "pages", "huge") != "huge") conditions.push_back(point.text("pages") + " pages");
    if (point.has("path")) conditions.push_back(point.text("path"));
    if (point.has("cpu_node") && point.has("memory_node"))
        conditions.push_back("node " + point.text("cpu_node") + " from node " + point.text("memory_node"));
    return join(conditions, ", ");
}

CeilingMaker::CeilingMaker(std::span<const Measurement> rows, const std::vector<PointSummary>& points,
                           const std::vector<MeasuredLevel>& levels)
    : clocks_(rows)
{
    for (const PointSummary& point : points) {
        if (point.rounds == 0) continue;  // its working_set may be an unresolved keyword
        const std::string level = level_at(point.best, levels);
        // The noise monitor detects neighbours on the core, but not in caches beyond the first.
        if (level_traits(level).is_of_one_core) continue;
        const std::string group = group_of(point.best, level);
        rates_.add(group, point.rate.median.value, point.round_rates);
        rates_per_clock_.add(group, point.per_clock.median.value, point.round_rates_per_clock);
    }
}

Ceiling CeilingMaker::make(const PointSummary& point, const std::string& level) const
{
    const Measurement& row = point.best;
    Ceiling ceiling;
    ceiling.device = row.device;
    ceiling.kind = row.role;
    ceiling.level = level;
    ceiling.operation = text_or(row.point, "operation", row.bench);
    ceiling.precision = text_or(row.point, "precision", "");
    ceiling.isa = text_or(row.point, "isa", "");
    ceiling.condition = condition_of(row.point);
    ceiling.threads = threads_of(row.point);
    ceiling.packs_cores = text_or(row.point, "placement", "cores") == "siblings";
    ceiling.variant = row.variant;
    ceiling.modes = point.modes;
    ceiling.typical = point.typical;
    ceiling.rounds = point.rounds;
    ceiling.disturbed = point.disturbed || (point.disturbances > 0 && point.rate.n < least_samples);
    ceiling.point = row.id();
    if (row.point.has("working_set")) ceiling.working_set = Bytes{row.point.number("working_set")};
    set_rate(point, ceiling);
    span_all_samples(point, ceiling);
    return ceiling;
}

Ceiling CeilingMaker::make(const PointSummary& point, const MeasuredLevel& level) const
{
    Ceiling ceiling = make(point, level.name);
    ceiling.working_set_low = level.from;
    ceiling.working_set_high = level.to;
    return ceiling;
}

/// A rate that scales with the clock is judged per clock. The clock's interval is added to the result.
void CeilingMaker::set_rate(const PointSummary& point, Ceiling& ceiling) const
{
    const std::string group = group_of(point.best, ceiling.level);
    ceiling.rate = point.rate;
    ceiling.clock = point.best.clock;
    widen(rates_.bounds(group, static_cast<int>(point.round_rates.size())), ceiling.rate);
    double half_width = ceiling.rate.relative_half_width();

    Estimate<Quantity<0, 0, 0>> per_clock = point.per_clock;
    widen(rates_per_clock_.bounds(group, static_cast<int>(point.round_rates_per_clock.size())), per_clock);
    // A GPU's clock depends on the kernel's power, so the clock of other kernels does not apply.
    const bool shares_clock = !point.best.device.starts_with("gpu:");
    const Estimate<Hertz> clock = clocks_.sustained_under(point.best);
    if (shares_clock && scales_with_clock(ceiling.level) && clock.n > 0 && per_clock.n >= least_samples) {
        set_at(clock, per_clock, ceiling);
        half_width = per_clock.relative_half_width();
    }
    ceiling.steadiness = point.steadiness(half_width, tolerance_of(ceiling.level));
    if (per_clock.n < least_samples) per_clock = {};  // one unnoticed wait would change the rate per clock
    ceiling.per_clock = per_clock;
    for (auto* const end : {&ceiling.per_clock.median, &ceiling.per_clock.low, &ceiling.per_clock.high})
        end->value /= ceiling.threads;
}

}  // namespace roof
