// What the core does alone, its arithmetic and its caches, goes with the clock: such a ceiling is its rate per clock at the
// clock that the cores sustained over all rows (core_clock.hpp), its interval the product of both intervals. Where a last cache
// has a clock of its own, the scatter of the cores' clock becomes part of the interval. Few rounds know little of the interference
// between them, so their interval reaches as far as rounds of the same level were seen to lie from what many found
// (round_spread.hpp). Where rounds disagree, the interval spans what was seen.
#include "ert/method/ceilings/ceiling_maker.hpp"

#include "ert/base/text.hpp"
#include "ert/method/ceilings/steadiness.hpp"

#include <algorithm>

namespace roof {

namespace {

/// Empty for a size between two levels.
std::string level_at(const Measurement& row, const std::vector<MeasuredLevel>& levels)
{
    if (row.role == Role::compute || !row.point.has("working_set")) return "core";
    const double bytes = row.point.number("working_set");
    for (const MeasuredLevel& level : levels) {
        if (level.device != row.device || level.threads != threads_of(row.point)) continue;
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

/// Sets the rate of what goes with the clock; of a rate per clock of all threads together.
void set_at(const Estimate<Hertz>& clock, const Estimate<Quantity<0, 0, 0>>& per_clock, Ceiling& ceiling)
{
    ceiling.clock = clock;
    ceiling.rate.median = per_clock.median * clock.median;
    ceiling.rate.low = per_clock.low * clock.low;
    ceiling.rate.high = per_clock.high * clock.high;
    ceiling.rate.n = per_clock.n;
}

/// PointHistory that disagree tell of interference longer than they are: the interval reaches from what half of all samples reach to the
/// fastest seen.
void span_what_was_seen(const PointSummary& point, Ceiling& ceiling)
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
    std::vector<std::string> words;
    if (text_or(point, "placement", "cores") != "cores") words.push_back(point.text("placement"));
    if (text_or(point, "pages", "huge") != "huge") words.push_back(point.text("pages") + " pages");
    if (point.has("path")) words.push_back(point.text("path"));
    if (point.has("cpu_node") && point.has("memory_node"))
        words.push_back("node " + point.text("cpu_node") + " from node " + point.text("memory_node"));
    return join(words, ", ");
}

CeilingMaker::CeilingMaker(std::span<const Measurement> rows, const std::vector<PointSummary>& points,
                           const std::vector<MeasuredLevel>& levels)
    : clocks_(rows)
{
    for (const PointSummary& point : points) {
        if (point.rounds == 0) continue;  // a size may then still be a word
        const std::string level = level_at(point.best, levels);
        // The watch over a core sees who shares it, not whose lines lie in a cache beyond the first.
        if (is_of_one_core(level)) continue;
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
    ceiling.variant = row.variant;
    ceiling.modes = point.modes;
    ceiling.typical = point.typical;
    ceiling.rounds = point.rounds;
    ceiling.disturbed = point.disturbed || (point.disturbances > 0 && point.rate.n < least_samples);
    ceiling.point = row.id();
    if (row.point.has("working_set")) ceiling.working_set = Bytes{row.point.number("working_set")};
    set_rate(point, ceiling);
    span_what_was_seen(point, ceiling);
    return ceiling;
}

Ceiling CeilingMaker::make(const PointSummary& point, const MeasuredLevel& level) const
{
    Ceiling ceiling = make(point, level.name);
    ceiling.working_set_low = level.from;
    ceiling.working_set_high = level.to;
    return ceiling;
}

/// A rate that goes with the clock is judged at one clock: the interval of the clock tells the rest.
void CeilingMaker::set_rate(const PointSummary& point, Ceiling& ceiling) const
{
    const std::string group = group_of(point.best, ceiling.level);
    ceiling.rate = point.rate;
    ceiling.clock = point.best.clock;
    widen(rates_.bounds(group, static_cast<int>(point.round_rates.size())), ceiling.rate);
    double half_width = ceiling.rate.relative_half_width();

    Estimate<Quantity<0, 0, 0>> per_clock = point.per_clock;
    widen(rates_per_clock_.bounds(group, static_cast<int>(point.round_rates_per_clock.size())), per_clock);
    const Estimate<Hertz> clock = clocks_.summary_under(point.best);
    if (goes_with_clock(ceiling.level) && clock.n > 0 && per_clock.n >= least_samples) {
        set_at(clock, per_clock, ceiling);
        half_width = per_clock.relative_half_width();
    }
    ceiling.steadiness = point.steadiness(half_width, tolerance_of(ceiling.level));
    if (per_clock.n < least_samples) per_clock = {};  // a launch that waited unseen would pass for what a clock does
    ceiling.per_clock = per_clock;
    for (auto* const end : {&ceiling.per_clock.median, &ceiling.per_clock.low, &ceiling.per_clock.high})
        end->value /= ceiling.threads;
}

}  // namespace roof
