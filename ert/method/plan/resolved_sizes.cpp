#include "ert/method/plan/resolved_sizes.hpp"

#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/ceilings/levels.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace roof {
namespace {

/// Working sets of the load sweep and their rates.
using Swept = std::map<long long, double>;

Swept swept_sizes(const std::vector<PointSummary>& points, const MeasuredLevel& level)
{
    Swept sizes;
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        if (row.role != Role::bandwidth || row.device != level.device || !row.point.has("working_set")) continue;
        if (!is_answered_by(level, row)) continue;
        if (row.point.has("threads") && row.point.integer("threads") != level.threads) continue;
        double& rate = sizes[row.point.integer("working_set")];
        rate = std::max(rate, point.rate.median.value);
    }
    return sizes;
}

/// The size of the level's ceiling, and a neighbouring size on the same level.
std::vector<long long> fastest_pair(const Ceilings& ceilings, const MeasuredLevel& level, const Swept& sizes)
{
    for (const Ceiling& ceiling : ceilings.all) {
        const bool is_load =
            ceiling.kind == Role::bandwidth && ceiling.operation == "load" && ceiling.condition.empty();
        if (!is_load || ceiling.device != level.device || ceiling.threads != level.threads) continue;
        if (ceiling.level != level.name) continue;
        const auto at = sizes.find(std::llround(ceiling.working_set.value));
        if (at == sizes.end()) return {};
        const auto next = std::next(at);
        if (next != sizes.end() && static_cast<double>(next->first) <= level.to.value) return {at->first, next->first};
        if (at != sizes.begin() && static_cast<double>(std::prev(at)->first) >= level.from.value)
            return {std::prev(at)->first, at->first};
        return {at->first};
    }
    return {};
}

/// Neighbouring sizes of the sweep that nearly fill the level, ascending; for memory only the largest, so that it gets
/// more rounds. At these sizes prefetchers are effective, and the previous level holds little of the set. They depend
/// only on the end of the level, so repeated calibrations choose the same sizes; the fastest size would vary.
std::vector<long long> nearly_full(const Swept& sizes, const MeasuredLevel& level)
{
    constexpr double nearly = 0.8;
    const bool is_memory = level.beyond.value == 0;
    const std::size_t wanted = is_memory ? 1 : 2;
    const double most = is_memory ? level.to.value : nearly * level.to.value;
    std::vector<long long> held;
    for (auto size = sizes.upper_bound(std::llround(most)); size != sizes.begin() && held.size() < wanted;) {
        if (static_cast<double>((--size)->first) < level.from.value) break;
        held.insert(held.begin(), size->first);
    }
    return held;
}

/// The size at a share of the distance (in log scale) between two working sets, in whole pages per thread.
long long part_of_the_way(double from, double to, double share, int threads)
{
    constexpr long long page = 4096;
    const long long step = page * threads;
    return std::llround(from * std::pow(to / from, share) / static_cast<double>(step)) * step;
}

/// Sizes between the level's last working set and the first beyond it.
std::vector<long long> across_the_edge(const MeasuredLevel& level)
{
    constexpr double least_gap = 1.15;
    if (level.beyond.value < level.to.value * least_gap) return {};
    std::vector<long long> sizes;
    for (const double share : {1.0 / 3, 2.0 / 3})
        sizes.push_back(part_of_the_way(level.to.value, level.beyond.value, share, level.threads));
    return sizes;
}

/// The largest rate of the slower member over all pairs of neighbours. For a single size: its rate.
double best_of_pairs(const std::vector<long long>& sizes, const Swept& rates)
{
    double best = sizes.size() == 1 ? rates.at(sizes.front()) : 0;
    for (std::size_t i = 1; i < sizes.size(); ++i)
        best = std::max(best, std::min(rates.at(sizes[i - 1]), rates.at(sizes[i])));
    return best;
}

/// A size of the sweep and one just above it, to detect a lucky point.
std::vector<long long> with_neighbour(const Swept& sizes, long long size, const MeasuredLevel& level)
{
    constexpr double near = 0.25;
    const auto next = sizes.upper_bound(size);
    if (next == sizes.end() || level.beyond.value == 0) return {size};
    return {size, part_of_the_way(static_cast<double>(size), static_cast<double>(next->first), near, level.threads)};
}

/// The working set with the fastest loads from a cache, if they are faster than at the sizes that nearly fill it. Some
/// caches are fastest at only some sizes, such as a Zen 5's L2 from a half to three quarters of it. Small sets are
/// excluded, since the previous level holds part of them.
std::optional<long long> faster_elsewhere(const Swept& rates, const MeasuredLevel& level,
                                          const std::vector<long long>& full)
{
    constexpr double alike = 1.03;
    constexpr double small = 8;
    if (level.beyond.value == 0) return std::nullopt;
    std::optional<long long> fastest;
    double most = alike * best_of_pairs(full, rates);
    for (const auto& [size, rate] : rates) {
        const auto bytes = static_cast<double>(size);
        if (bytes < small * level.from.value || bytes > level.to.value || rate <= most) continue;
        fastest = size;
        most = rate;
    }
    return fastest;
}

/// Whether each thread's share of the level fits in one huge page, whose place a probe may choose. False for L1, where
/// pages do not matter.
bool may_choose_pages(const MeasuredLevel& level)
{
    constexpr double huge_page = 2 << 20;
    return !level_traits(level.name).is_of_one_core && level.beyond.value > 0 &&
           level.to.value <= huge_page * level.threads;
}

/// The last size of the sweep at which loads keep the cache's rate, and one just below it. Operations on several arrays
/// may be fastest only in an almost full cache, such as the triad in a Zen 5's L2. None if pages cannot be chosen.
std::vector<long long> almost_full(const Swept& rates, const MeasuredLevel& level, const std::vector<long long>& full)
{
    constexpr double kept = 0.97;
    constexpr double inside = 7.0 / 8;
    if (!may_choose_pages(level)) return {};
    const double least_rate = kept * best_of_pairs(full, rates);
    for (auto last = rates.upper_bound(std::llround(level.to.value)); last != rates.begin();) {
        if (--last == rates.begin() || static_cast<double>(std::prev(last)->first) < level.from.value) break;
        if (last->second < least_rate) continue;
        const auto before = static_cast<double>(std::prev(last)->first);
        return {part_of_the_way(before, static_cast<double>(last->first), inside, level.threads), last->first};
    }
    return {};
}

/// The sizes at which to measure the level, each with a neighbour as a check. A size may occur twice.
std::vector<long long> sizes_of(const Swept& rates, const MeasuredLevel& level)
{
    const std::vector<long long> full = nearly_full(rates, level);
    if (full.empty()) return {};
    std::vector<long long> sizes = almost_full(rates, level, full);
    if (sizes.empty()) sizes = full;
    const auto add = [&](const std::vector<long long>& more) { sizes.insert(sizes.end(), more.begin(), more.end()); };
    add(with_neighbour(rates, full.back(), level));
    if (const auto fastest = faster_elsewhere(rates, level, full)) add(with_neighbour(rates, *fastest, level));
    return sizes;
}

bool is_keyword(const Axis& axis, const std::string& value)
{
    return std::ranges::find(axis.keywords, value) != axis.keywords.end();
}

}  // namespace

ResolvedSizes resolve_sizes(std::span<const Measurement> rows, const Machine& machine)
{
    const std::vector<PointSummary> points = summarize_points(rows);
    const Ceilings ceilings = fit_ceilings(rows, points, machine);
    ResolvedSizes resolved;
    for (const MeasuredLevel& level : ceilings.levels_by_threads) {
        const auto add = [&](const std::string& keyword, const std::vector<long long>& sizes) {
            auto& list = resolved[{level.device, level.threads, keyword}];
            for (const long long size : sizes)
                if (std::ranges::find(list, size) == list.end()) list.push_back(size);
        };
        const Swept rates = swept_sizes(points, level);
        const std::vector<long long> pair = fastest_pair(ceilings, level, rates);
        const std::vector<long long> held = sizes_of(rates, level);
        add("levels", held.empty() ? pair : held);
        if (level.beyond.value == 0) add("memory", held.empty() ? pair : held);
        if (!pair.empty()) add("fastest", {pair.front()});
        add("edges", across_the_edge(level));
    }
    return resolved;
}

bool has_keyword(const Axes& axes, const Bench& bench, const BenchRegistry& registry)
{
    for (const Axis& axis : bench.axes(registry.machine())) {
        for (const auto& [name, values] : axes) {
            if (name != axis.name) continue;
            if (std::ranges::any_of(values, [&](const std::string& value) { return is_keyword(axis, value); }))
                return true;
        }
    }
    return false;
}

std::vector<std::string> sizes_for(const Item& item, const ResolvedSizes& sizes)
{
    const std::string& keyword = item.point.text("working_set");
    const int threads = item.point.has("threads") ? static_cast<int>(item.point.integer("threads")) : 1;
    const auto found = sizes.find({item.device, threads, keyword});
    std::vector<std::string> values;
    if (found == sizes.end()) return values;
    for (const long long size : found->second) values.push_back(std::to_string(size));
    return values;
}

}  // namespace roof
