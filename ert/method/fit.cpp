// From rows to ceilings. What the visits to a point sustain together is a row's rate (sustained.hpp). A compute ceiling is a
// row. A bandwidth ceiling is a plateau of a working-set sweep: the plateaus are found on the load sweep of each thread count
// (levels.hpp), and serve the other operations of that thread count. What goes by a path of its own, as a host link does, is
// a ceiling of that path, and no roof.
//
// Estimator of a plateau's rate: of all pairs of neighbouring working sets on the plateau, the pair whose slower member is
// fastest; that member's own estimate is the ceiling. One lucky point cannot set it, nor a slope towards the next level
// pull it down. A latency is that at the middle of the plateau: near its lower end the level before still answers some.
//
// What the core does alone, its arithmetic and its own caches, goes with the clock: such a ceiling is its rate per clock at the
// clock that the cores sustained over all rows (core_clock.hpp), its interval the product of both intervals. Where visits
// disagree, the interval spans what was seen; where a rate has hardly an undisturbed sample, it reaches up to what the rate may
// be without the disturbance.
#include "ert/base/text.hpp"
#include "ert/method/ceiling.hpp"
#include "ert/method/core_clock.hpp"
#include "ert/method/levels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace roof {

namespace {

/// Device, threads, condition, operation.
using SweepKey = std::tuple<std::string, int, std::string, std::string>;
using Sweeps = std::map<SweepKey, Sweep>;

std::string text_or(const Point& point, std::string_view axis, std::string_view otherwise)
{
    return std::string(point.has(axis) ? std::string_view(point.text(axis)) : otherwise);
}

int threads_of(const Point& point)
{
    return point.has("threads") ? static_cast<int>(point.integer("threads")) : 1;
}

/// What is unusual about a row, in words; empty if nothing is.
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

/// Half-widths that still are one rate. Beyond the caches of one's own, neighbours' traffic is part of what a machine gives.
constexpr double tolerance_of_core = 0.01;
constexpr double tolerance_of_memory = 0.03;

/// The core's own, or its nearest caches.
bool is_near(const std::string& level)
{
    return level == "core" || level == "L1" || level == "L2";
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

/// A rate that goes with the clock is judged at one clock: the interval of the clock tells the rest.
void set_rate(const Sustained& point, const CoreClock& clocks, Ceiling& ceiling)
{
    ceiling.rate = point.rate;
    ceiling.clock = point.best.clock;
    ceiling.steadiness = point.steadiness(point.rate.relative_half_width(), tolerance_of_memory);
    if (!is_near(ceiling.level)) return;
    const Estimate<Hertz> clock = clocks.sustained_under(point.best);
    const bool goes_with_clock = clock.n > 0 && point.per_clock.n >= least_samples;
    if (goes_with_clock) set_at(clock, point.per_clock, ceiling);
    const double half_width =
        goes_with_clock ? point.per_clock.relative_half_width() : point.rate.relative_half_width();
    ceiling.steadiness = point.steadiness(half_width, tolerance_of_core);
}

/// Visits that disagree tell of weather longer than they are: the interval reaches from what half of all samples reach to the
/// fastest seen.
void span_what_was_seen(const Sustained& point, Ceiling& ceiling)
{
    if (ceiling.steadiness == Steadiness::steady || point.fastest <= 0) return;
    ceiling.rate.low.value = std::min(ceiling.rate.low.value, point.typical);
    ceiling.rate.high.value = std::max(ceiling.rate.high.value, point.fastest);
}

Ceiling ceiling_of(const Sustained& point, const std::string& level, const CoreClock& clocks)
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
    set_rate(point, clocks, ceiling);
    span_what_was_seen(point, ceiling);
    if (row.point.has("working_set")) ceiling.working_set = Bytes{row.point.number("working_set")};
    ceiling.variant = row.variant;
    ceiling.per_clock = point.per_clock;
    for (auto* const end : {&ceiling.per_clock.median, &ceiling.per_clock.low, &ceiling.per_clock.high})
        end->value /= ceiling.threads;
    ceiling.modes = point.modes;
    ceiling.usual = point.usual;
    ceiling.visits = point.visits;
    ceiling.disturbed = point.disturbed || (point.disturbances > 0 && point.rate.n < least_samples);
    ceiling.point = row.id();
    return ceiling;
}

Ceiling ceiling_of(const Sustained& point, const MeasuredLevel& level, const CoreClock& clocks)
{
    Ceiling ceiling = ceiling_of(point, level.name, clocks);
    ceiling.working_set_low = level.from;
    ceiling.working_set_high = level.to;
    return ceiling;
}

void add_to_sweeps(const Sustained& point, Sweeps& sweeps)
{
    const Measurement& row = point.best;
    const SweepKey key{row.device, threads_of(row.point), condition_of(row.point),
                       text_or(row.point, "operation", row.bench)};
    const auto [place, is_new] = sweeps[key].try_emplace(row.point.number("working_set"), &point);
    if (!is_new && place->second->rate.median < point.rate.median) place->second = &point;
}

/// Of messages of many sizes, the fastest is the path's ceiling. A rank alone shows that a function works, and has no path.
void add_of_path(const Sustained& point, const CoreClock& clocks, std::vector<Ceiling>& of_paths)
{
    const Point& at = point.best.point;
    if (text_or(at, "operation", "") == "alone") return;
    Ceiling ceiling = ceiling_of(point, at.text("path"), clocks);
    const auto same = std::ranges::find_if(of_paths, [&](const Ceiling& other) {
        return at.has("size") && other.device == ceiling.device && other.level == ceiling.level &&
               other.operation == ceiling.operation;
    });
    if (same == of_paths.end())
        of_paths.push_back(std::move(ceiling));
    else if (same->rate.median < ceiling.rate.median)
        *same = std::move(ceiling);
}

/// The estimator described above; null if the sweep has no point on the level.
const Sustained* best_held(const Sweep& sweep, const MeasuredLevel& level)
{
    const Sustained* best = nullptr;
    const Sustained* previous = nullptr;
    const auto end = sweep.upper_bound(level.to.value);
    for (auto at = sweep.lower_bound(level.from.value); at != end; ++at) {
        const Sustained* const point = at->second;
        const bool previous_is_slower = previous != nullptr && previous->rate.median < point->rate.median;
        const Sustained* const slower = previous_is_slower ? previous : point;
        const bool is_pair = previous != nullptr || std::next(at) == end;
        if (is_pair && (best == nullptr || best->rate.median < slower->rate.median)) best = slower;
        previous = point;
    }
    return best;
}

/// The point nearest to the middle of the level; for memory, the largest.
const Sustained* in_the_middle(const Sweep& sweep, const MeasuredLevel& level)
{
    if (sweep.empty()) return nullptr;
    if (level.name == "DRAM") return sweep.rbegin()->first >= level.from.value ? sweep.rbegin()->second : nullptr;
    const double middle = 0.5 * (std::log(level.from.value) + std::log(level.to.value));
    const Sustained* nearest = nullptr;
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

/// Of every device and thread count, on the load sweep under usual conditions; where there is none, on the first.
std::vector<MeasuredLevel> find_levels(const Sweeps& sweeps, const Machine& machine)
{
    std::map<std::pair<std::string, int>, const Sweep*> chosen;
    for (const auto& [key, sweep] : sweeps) {
        const auto& [device, threads, condition, operation] = key;
        if (!condition.empty()) continue;
        const auto [place, is_first] = chosen.try_emplace({device, threads}, &sweep);
        if (!is_first && operation == "load") place->second = &sweep;
    }
    std::vector<MeasuredLevel> levels;
    for (const auto& [key, sweep] : chosen) {
        const std::vector<MeasuredLevel> found = levels_of(*sweep, key.first, key.second, machine);
        levels.insert(levels.end(), found.begin(), found.end());
    }
    compare_thread_counts(levels);
    return levels;
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

using Choose = const Sustained* (*)(const Sweep&, const MeasuredLevel&);

void add_level_ceilings(const Sweeps& sweeps, Choose choose, const CoreClock& clocks, Ceilings& ceilings)
{
    for (const auto& [key, sweep] : sweeps) {
        for (const MeasuredLevel& level : ceilings.levels_by_threads) {
            if (level.device != std::get<0>(key) || level.threads != std::get<1>(key)) continue;
            if (const Sustained* const point = choose(sweep, level))
                ceilings.all.push_back(ceiling_of(*point, level, clocks));
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

/// Undisturbed, threads together reach at most what each reaches alone; and one whose core a stranger shares, twice what it
/// was seen to reach.
void reach_up_where_disturbed(std::vector<Ceiling>& all)
{
    for (Ceiling& ceiling : all) {
        if (!ceiling.disturbed) continue;
        const Ceiling* const alone = ceiling.threads > 1 ? with_one_thread(ceiling, all) : nullptr;
        const Quantity<0, 0, -1> most = alone ? ceiling.threads * alone->rate.high : 2 * ceiling.rate.median;
        ceiling.rate.high = std::max(ceiling.rate.high, most);
        if (ceiling.steadiness == Steadiness::steady) ceiling.steadiness = Steadiness::unsteady;
    }
}

}  // namespace

Ceilings fit_ceilings(std::span<const Measurement> rows, const Machine& machine)
{
    Ceilings ceilings;
    Sweeps bandwidths;
    Sweeps latencies;
    std::vector<Ceiling> of_nodes;
    std::vector<Ceiling> of_paths;
    const std::vector<Sustained> points = sustained(rows);
    const CoreClock clocks(rows);
    for (const Sustained& point : points) {
        const Measurement& row = point.best;
        if (point.visits == 0) continue;
        // A point on the curve under the roofs is no roof.
        if (row.role == Role::compute && !row.point.has("intensity"))
            ceilings.all.push_back(ceiling_of(point, "core", clocks));
        if (row.point.has("path") && row.role != Role::compute) {
            add_of_path(point, clocks, of_paths);
            continue;
        }
        if (!row.point.has("working_set")) continue;
        if (row.role == Role::latency) add_to_sweeps(point, latencies);
        if (row.role != Role::bandwidth) continue;
        if (row.point.has("cpu_node"))
            of_nodes.push_back(ceiling_of(point, "DRAM", clocks));
        else
            add_to_sweeps(point, bandwidths);
    }
    ceilings.levels_by_threads = find_levels(bandwidths, machine);
    ceilings.levels = with_most_threads(ceilings.levels_by_threads);
    add_level_ceilings(bandwidths, best_held, clocks, ceilings);
    ceilings.all.insert(ceilings.all.end(), of_nodes.begin(), of_nodes.end());
    add_level_ceilings(latencies, in_the_middle, clocks, ceilings);
    ceilings.all.insert(ceilings.all.end(), of_paths.begin(), of_paths.end());
    reach_up_where_disturbed(ceilings.all);
    return ceilings;
}

}  // namespace roof
