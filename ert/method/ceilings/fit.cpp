// From rows to ceilings: summaries of the points, levels, and the ceiling of each point that shows one.
#include "ert/base/text.hpp"
#include "ert/method/bench/chip.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/levels.hpp"
#include "ert/method/ceilings/looks.hpp"
#include "ert/method/ceilings/run_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace roof {
namespace {

bool scales_with_clock(const std::string& device, std::string_view level)
{
    const LevelKind kind = level_traits(level).kind;
    return kind_of_device(device) == "cpu" && (kind == LevelKind::core || kind == LevelKind::cache);
}

/// Of undisturbed samples; 0 if none has a clock.
double clock_of(std::span<const Round> rounds)
{
    std::vector<double> clocks;
    for (const Round& round : rounds)
        for (const RateSample& sample : round)
            if (sample.clock > 0 && !sample.disturbed) clocks.push_back(sample.clock);
    return clocks.empty() ? 0 : spread_of(clocks).median;
}

std::string change_in(const PointSummary& point, std::span<const Round> rounds, const SustainedRate& rate,
                      std::string_view unit)
{
    const auto at = static_cast<std::size_t>(rate.changed_at);
    const double seconds = at < point.seconds.size() ? point.seconds[at] : 0;
    std::string text = fmt::format("changed at {:.0f} s: {}, then {}", seconds, format_si(rate.centre, unit),
                                   format_si(rate.after, unit));
    const double before = clock_of(rounds.first(at));
    const double after = clock_of(rounds.subspan(at));
    if (before > 0 && after > 0) text += fmt::format("; {}, then {}", format_si(before, "Hz"), format_si(after, "Hz"));
    return text;
}

/// Sets rate, steadiness, clock and the rate per clock and thread. `samples`: of the point, or of all points that show
/// the ceiling.
void set_rate(const PointSummary& point, const std::vector<Round>& samples, const RunClock& run, Ceiling& ceiling)
{
    const bool scales = scales_with_clock(ceiling.device, ceiling.level);
    ceiling.clock = scales ? run.under(point) : point.best.clock;
    const bool divides = scales && run.varies(ceiling.device);
    SustainedRate sustained;
    if (samples.empty())
        sustained = point.sustained();
    else {
        const double tolerance = tolerance_of(ceiling.level);
        sustained = divides ? sustained_rate(run.credible_samples(point, samples), tolerance, ceiling.clock)
                            : sustained_rate(samples, tolerance);
        // A lower bound needs no clock, and samples that lack one show it too. At one clock only, they may agree.
        if (divides && sustained.steadiness == Steadiness::at_least) {
            sustained = sustained_rate(samples, tolerance);
            sustained.rate.median = sustained.rate.low;
            sustained.steadiness = Steadiness::at_least;
        }
        // Rounds of a GPU differ by the clock that its power allows: one that no other reaches is no lower bound.
        if (kind_of_device(ceiling.device) == "gpu" && (sustained.differ || sustained.rounds < min_rounds))
            if (SustainedRate all = rate_over_rounds(samples, tolerance); all.rounds > 0) sustained = all;
    }
    if (sustained.steadiness == Steadiness::changed)
        ceiling.change = change_in(point, samples, sustained, ceiling.unit());
    ceiling.per_clock_compared = divides;
    ceiling.samples = divides ? run.credible_samples(point, samples) : samples;
    take_rate(sustained, ceiling);
}

Ceiling ceiling_of(const PointSummary& point, const std::vector<Round>& samples, std::string_view level,
                   const RunClock& clock)
{
    const Measurement& row = point.best;
    Ceiling ceiling;
    ceiling.device = row.device;
    ceiling.kind = row.role;
    ceiling.level = level;
    ceiling.operation = operation_of(row);
    ceiling.precision = row.point.text_or("precision", "");
    ceiling.isa = row.point.text_or("isa", "");
    ceiling.condition = condition_of(row.point);
    // A GPU's L2 may take several stores to a line before it writes the line once.
    if (kind_of_device(row.device) == "gpu" && level == memory_level && ceiling.operation == "store")
        ceiling.condition += (ceiling.condition.empty() ? "" : ", ") + std::string("bytes not counted");
    ceiling.threads = point.threads();
    ceiling.packs_cores = row.point.text_or("placement", "cores") == "siblings";
    ceiling.variant = row.variant;
    ceiling.known = row.time_known;
    ceiling.typical = point.typical;
    ceiling.point = row.id();
    if (row.point.has("working_set")) ceiling.working_set = Bytes{row.point.number("working_set")};
    set_rate(point, samples, clock, ceiling);
    return ceiling;
}

Ceiling ceiling_of(const PointSummary& point, std::string_view level, const RunClock& clock)
{
    return ceiling_of(point, point.samples, level, clock);
}

/// A latency is taken at the middle of the working sets that the level alone serves; memory's at the largest.
const PointSummary* middle_of(const MeasuredLevel& level, const Sweep& on)
{
    if (level.name == memory_level) return on.rbegin()->second;
    const double last = level.swept.empty() ? level.to.value : level.swept.back().working_set;
    const auto from_middle = [&](const auto& point) {
        return std::abs(std::log2(point.first / std::sqrt(level.from.value * last)));
    };
    return std::ranges::min_element(on, {}, from_middle)->second;
}

/// Adds the point's samples, round by round. `left_out`: 0 if they count; else they do not, and have rates times this.
void add_samples(const PointSummary& point, std::vector<Round>& rounds, double left_out = 0)
{
    if (rounds.size() < point.samples.size()) rounds.resize(point.samples.size());
    for (std::size_t i = 0; i < point.samples.size(); ++i)
        for (RateSample sample : point.samples[i]) {
            sample.left_out = left_out > 0;
            if (sample.left_out) sample.rate *= left_out;
            rounds[i].push_back(sample);
        }
}

/// The median rate of all samples; per clock, of those that have one.
double typical_of(const PointSummary& point, bool per_clock)
{
    if (!per_clock) return point.typical;
    std::vector<double> rates;
    for (const Round& round : point.samples)
        for (const RateSample& sample : round)
            if (sample.clock > 0) rates.push_back(sample.rate / sample.clock);
    return rates.empty() ? point.typical : spread_of(rates).median;
}

/// The points of a level, one or more, that show its bandwidth: those with two samples at the rate on which the samples
/// of all agree. A level has one rate, so their samples are one quantity.
std::vector<const PointSummary*> agreeing(const std::vector<const PointSummary*>& points, std::string_view level)
{
    if (points.size() < 2) return points;
    constexpr double agreement = 0.01;
    std::vector<Round> pooled;
    for (const PointSummary* const point : points) add_samples(*point, pooled);
    const double centre = sustained_rate(pooled, tolerance_of(level)).centre;
    std::vector<const PointSummary*> showing;
    std::ranges::copy_if(points, std::back_inserter(showing), [&](const PointSummary* point) {
        int samples = 0;
        for (const Round& round : point->samples)
            for (const RateSample& sample : round) samples += std::abs(sample.rate / centre - 1) <= agreement ? 1 : 0;
        return samples >= 2;
    });
    if (!showing.empty() || !pooled.empty()) return showing.empty() ? points : showing;
    std::vector<const PointSummary*> fastest = points;  // without samples: one rate may be chance
    std::ranges::sort(fastest, std::greater{}, &PointSummary::fastest);
    std::erase_if(fastest, [second = fastest[1]->fastest](const PointSummary* point) {
        return std::abs(point->fastest / second - 1) > agreement;
    });
    return fastest;
}

/// Empty if the sweep has no point on the level.
std::optional<Ceiling> ceiling_on(const MeasuredLevel& level, const Sweep& sweep, Role role, const RunClock& clock)
{
    auto past = sweep.upper_bound(level.to.value);
    auto first = sweep.lower_bound(level.from.value);
    // A sweep that ends before these sets shows the level by the one of which the nearer level serves least: the
    // largest.
    if (first == past && !level.swept.empty()) {
        past = sweep.upper_bound(level.swept.back().working_set);
        first = past == sweep.begin() ? past : std::prev(past);
        if (first != past && first->first < level.clear.value) first = past;
    }
    const Sweep on(first, past);
    if (on.empty()) return {};
    std::vector<const PointSummary*> points;
    if (role == Role::latency)
        points = {middle_of(level, on)};
    else
        for (const auto& [bytes, point] : on) points.push_back(point);
    const std::vector<const PointSummary*> shows = agreeing(points, level.name);
    // Named after the one with the most rounds, since further ones repeat it; of equals the one in the middle.
    const PointSummary* shown = shows[shows.size() / 2];
    for (const PointSummary* const point : shows)
        if (point->rounds > shown->rounds) shown = point;
    std::vector<Round> pooled;
    for (const PointSummary* const point : shows) add_samples(*point, pooled);
    // Latency rises within a level, and just past a cache memory is faster. So smaller sets count beside their own
    // typical rate.
    const bool per_clock = clock.varies(level.device) && scales_with_clock(level.device, level.name);
    for (auto other = sweep.lower_bound(level.clear.value); other != sweep.upper_bound(level.to.value); ++other) {
        const auto& [bytes, point] = *other;
        if (std::ranges::find(shows, point) != shows.end()) continue;
        const bool may_be_faster = std::ranges::find(points, point) == points.end() &&
                                   point->best.point.number("working_set") < shown->best.point.number("working_set");
        add_samples(*point, pooled, may_be_faster ? typical_of(*shown, per_clock) / typical_of(*point, per_clock) : 1);
    }
    return ceiling_of(*shown, pooled, level.name, clock);
}

std::vector<MeasuredLevel> with_most_threads(std::vector<MeasuredLevel> levels)
{
    std::map<std::string, int> most;
    for (const MeasuredLevel& level : levels) most[level.device] = std::max(most[level.device], level.threads);
    std::erase_if(levels, [&](const MeasuredLevel& level) { return level.threads < most[level.device]; });
    return levels;
}

/// Nearest to the core first; none for a path.
std::optional<int> distance_of(const Ceiling& ceiling)
{
    const LevelTraits level = level_traits(ceiling.level);
    if (ceiling.kind != Role::bandwidth || level.kind == LevelKind::path) return {};
    return level.kind == LevelKind::memory ? INT_MAX : level.number;
}

/// Of two levels under the same accesses.
bool is_slower_than_farther(const Ceiling& nearer, const Ceiling& farther)
{
    const auto key = [](const Ceiling& c) {
        return std::tie(c.device, c.operation, c.isa, c.condition, c.threads, c.packs_cores);
    };
    const std::optional<int> near = distance_of(nearer);
    const std::optional<int> far = distance_of(farther);
    if (!near || !far || *near >= *far || key(nearer) != key(farther)) return false;
    const bool is_bound = nearer.steadiness == Steadiness::at_least;
    return farther.rate.low > (is_bound ? nearer.rate.median : nearer.rate.high);
}

void refuse_disorder(Ceilings& ceilings)
{
    std::vector<Ceiling>& all = ceilings.all;
    for (std::size_t i = 0; i < all.size();) {
        const auto farther =
            std::ranges::find_if(all, [&](const Ceiling& c) { return is_slower_than_farther(all[i], c); });
        if (farther == all.end()) {
            ++i;
            continue;
        }
        const bool is_bound = all[i].steadiness == Steadiness::at_least;
        const std::size_t wrong = is_bound ? i : static_cast<std::size_t>(farther - all.begin());
        const std::string why = is_bound ? farther->level + " was faster" : all[i].level + " was slower";
        ceilings.refused.push_back(all[wrong]);
        ceilings.refused.back().stands_in = why;
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(wrong));
        i = 0;
    }
}

/// What a CPU lacks has rows too where a run was over before them.
bool offers(const Machine& machine, const Measurement& row)
{
    if (kind_of_device(row.device) != "cpu" || machine.isa.empty()) return true;
    const auto has = [](const std::vector<std::string>& list, const std::string& word) {
        return std::ranges::find(list, word) != list.end();
    };
    const std::string isa = row.point.text_or("isa", "");
    const std::string precision = row.point.text_or("precision", "");
    if (isa == "amx") return has(machine.features, "amx_" + precision);
    if (!has(machine.isa, isa)) return false;
    if (precision == "fp16") return has(machine.features, isa + "_fp16");
    if (row.point.text_or("operation", "") != "dot") return true;
    if (precision == "bf16") return has(machine.features, isa + "_bf16");
    return has(machine.features, isa == "avx2" ? "avx_vnni" : isa + "_vnni");
}

/// What the tensor cores of a GPU multiply and no row of them or of a library shows.
void add_tensor_cores(const std::vector<PointSummary>& points, const Machine& machine, std::vector<Unmeasured>& all)
{
    for (const Device& device : machine.devices) {
        std::set<std::string> left;
        if (const auto fact = device.facts.find("tensor cores"); fact != device.facts.end())
            for (const std::string& precision : split(fact->second, ' ')) left.insert(precision);
        for (const SpecRate& rate : device.spec_rates)
            if (is_of_tensor_cores(rate) && device.kind == "gpu") left.insert(rate.precision);
        for (const PointSummary& point : points) {
            const Measurement& row = point.best;
            if (row.device == device.name && row.role == Role::compute && point.rounds > 0 &&
                row.point.text_or("isa", "cuda") != "cuda")
                left.erase(row.point.text_or("precision", ""));
        }
        for (const std::string& precision : left)
            all.push_back({device.name, precision, 1, "tile", std::string(tensor_cores)});
    }
}

/// What has rows alone that were not measured, although the machine supports them; and, where a plan left it out, the
/// widest vectors of a CPU in fp32 and fp64.
std::vector<Unmeasured> unmeasured_in(const std::vector<PointSummary>& points, const Machine& machine)
{
    std::vector<Unmeasured> all;
    std::map<std::tuple<std::string, std::string, int>, bool> has_widest;
    const auto widest = std::ranges::find_if(machine.isa.rbegin(), machine.isa.rend(),
                                             [](const std::string& isa) { return isa != "amx"; });
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        const std::string operation = row.point.text_or("operation", row.bench);
        if (row.role != Role::compute || !is_multiply_add(operation) || !condition_of(row.point).empty()) continue;
        const std::string isa = row.point.text_or("isa", "");
        const std::string precision = row.point.text_or("precision", "");
        if (row.status == Status::unsupported || !offers(machine, row)) continue;
        if (point.rounds == 0) all.push_back({row.device, precision, point.threads(), operation, isa});
        if (kind_of_device(row.device) != "cpu" || (precision != "fp32" && precision != "fp64")) continue;
        bool& has = has_widest[{row.device, precision, point.threads()}];
        has = has || widest == machine.isa.rend() || isa == *widest;
    }
    add_tensor_cores(points, machine, all);
    for (const auto& [key, has] : has_widest)
        if (const auto& [device, precision, threads] = key; !has)
            all.push_back({device, precision, threads, "fma", *widest});
    return all;
}

}  // namespace

std::vector<Ceiling> ceilings_of(const std::vector<PointSummary>& points, const std::vector<MeasuredLevel>& levels)
{
    const auto has_l2 = [](const std::vector<MeasuredLevel>& all, const std::string& device) {
        return std::ranges::any_of(all,
                                   [&](const MeasuredLevel& level) { return level.device == device && level.past_l1; });
    };
    const RunClock clock(points);
    const std::map<SweepKey, Sweep> sweeps = sweeps_in(points);
    std::vector<Ceiling> all;
    const auto add_levels = [&](Role role) {
        for (const auto& [key, sweep] : sweeps) {
            for (const MeasuredLevel& level : levels) {
                if (key.role != role || level.device != key.device || level.threads != key.threads) continue;
                if (!is_answered_by(level, sweep.begin()->second->best)) continue;
                std::optional<Ceiling> ceiling = ceiling_on(level, sweep, role, clock);
                if (!ceiling) continue;
                ceiling->working_set_low = level.from;
                ceiling->working_set_high = level.to;
                ceiling->nearer_share = std::min(1.0, level.nearer / ceiling->working_set);
                all.push_back(std::move(*ceiling));
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
        if (role != Role::compute && at.has("path") && at.text_or("operation", "") != "alone" &&
            !(is_by_two_readers(at) && has_l2(levels, point.best.device)))
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

Ceilings fit_ceilings(std::span<const Measurement> rows, const Machine& machine, std::span<const Look> seen)
{
    const std::vector<PointSummary> points = summarize_points(rows);
    const std::vector<MeasuredLevel> levels = find_levels(points, machine);
    Ceilings ceilings{
        ceilings_of(points, levels), with_most_threads(levels), levels, unmeasured_in(points, machine), {}};
    if (rows.empty()) ceilings.all = newest_of(seen);
    judge_by_looks(seen, ceilings.all, rows.empty() ? std::nullopt : utc_seconds(rows.front().started));
    refuse_disorder(ceilings);
    return ceilings;
}

}  // namespace roof
