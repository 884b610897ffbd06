#include "ert/method/plan/resolved_sizes.hpp"

#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/ceiling_points.hpp"
#include "ert/method/ceilings/levels.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace roof {
namespace {

/// The load sweep's working sets on the level, and their rates.
using Swept = std::map<long long, double>;
using Sizes = std::vector<long long>;

Swept swept_sizes(const std::vector<PointSummary>& points, const MeasuredLevel& level)
{
    Swept sizes;
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        if (row.role != Role::bandwidth || row.device != level.device || !row.point.has("working_set")) continue;
        if (!is_answered_by(level, row)) continue;
        if (row.point.has("threads") && row.point.integer("threads") != level.threads) continue;
        const double bytes = row.point.number("working_set");
        if (bytes < level.from.value || bytes > level.to.value) continue;
        double& rate = sizes[row.point.integer("working_set")];
        rate = std::max(rate, point.sustained.rate.median.value);
    }
    return sizes;
}

/// The neighbours whose slower member is fastest, ascending; a single size alone.
Sizes fastest_pair(const Swept& rates)
{
    Sizes pair;
    double best = 0;
    for (auto at = rates.begin(); at != rates.end(); ++at) {
        if (rates.size() == 1) return {at->first};
        const auto next = std::next(at);
        if (next == rates.end() || std::min(at->second, next->second) <= best) continue;
        best = std::min(at->second, next->second);
        pair = {at->first, next->first};
    }
    return pair;
}

Sizes largest(const Swept& rates, std::size_t count)
{
    Sizes sizes;
    for (auto at = rates.rbegin(); at != rates.rend() && sizes.size() < count; ++at)
        sizes.insert(sizes.begin(), at->first);
    return sizes;
}

/// Thirds of the distance (in octaves) between the level's last working set and the first beyond it, in whole pages per thread. None
/// where the two are so near that the next level would hold them both.
Sizes across_the_edge(const MeasuredLevel& level)
{
    const double step = 4096.0 * level.threads;
    const double ratio = level.beyond.value / level.to.value;
    Sizes sizes;
    for (const double share : {1.0 / 3, 2.0 / 3})
        if (ratio > 1.15)
            sizes.push_back(std::llround(level.to.value * std::pow(ratio, share) / step) * std::llround(step));
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
    ResolvedSizes resolved;
    for (const MeasuredLevel& level : find_levels(points, machine)) {
        const auto add = [&](const std::string& keyword, const Sizes& sizes) {
            Sizes& list = resolved[{level.device, level.threads, keyword}];
            for (const long long size : sizes)
                if (std::ranges::find(list, size) == list.end()) list.push_back(size);
        };
        const Swept rates = swept_sizes(points, level);
        const Sizes pair = fastest_pair(rates);
        const bool is_memory = level.beyond.value == 0;
        add("levels", largest(rates, is_memory ? 1 : 3));
        if (is_memory) add("memory", largest(rates, 1));
        if (!is_memory) add("levels", pair);
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
