#include "ert/method/plan/resolved_sizes.hpp"

#include "ert/method/ceilings/levels.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace roof {
namespace {

using Sizes = std::vector<long long>;

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

}  // namespace

ResolvedSizes resolve_sizes(std::span<const Measurement> rows, const Machine& machine)
{
    ResolvedSizes resolved;
    for (const MeasuredLevel& level : find_levels(summarize_points(rows), machine)) {
        const auto add = [&](const std::string& keyword, const Sizes& sizes) {
            Sizes& list = resolved[{level.device, level.threads, keyword}];
            for (const long long size : sizes)
                if (std::ranges::find(list, size) == list.end()) list.push_back(size);
        };
        Sizes swept;
        for (const RatePoint& point : level.swept) swept.push_back(std::llround(point.working_set));
        const auto from = [&](std::size_t first, std::size_t count) {
            const auto sizes = std::span(swept).subspan(first).first(std::min(count, swept.size() - first));
            return Sizes(sizes.begin(), sizes.end());
        };
        const std::size_t fastest = fastest_pair(level.swept);
        const bool is_memory = level.beyond.value == 0;
        const std::size_t largest = std::min<std::size_t>(is_memory ? 1 : 3, swept.size());
        add("levels", from(swept.size() - largest, largest));
        if (is_memory) add("memory", {swept.back()});
        if (!is_memory) add("levels", from(fastest, 2));
        add("fastest", from(fastest, 1));
        add("edges", across_the_edge(level));
    }
    return resolved;
}

std::vector<Item> at_sizes(const std::vector<Item>& items, const ResolvedSizes& sizes)
{
    std::vector<Item> resolved;
    std::set<std::string> seen;
    for (Item item : items) {
        if (!item.is_open) continue;
        item.is_open = false;
        const int threads = item.point.has("threads") ? static_cast<int>(item.point.integer("threads")) : 1;
        const auto found = sizes.find({item.device, threads, item.point.text("working_set")});
        if (found == sizes.end()) continue;
        for (const long long size : found->second) {
            item.point.set("working_set", std::to_string(size));
            if (seen.insert(item.id()).second) resolved.push_back(item);
        }
    }
    return resolved;
}

}  // namespace roof
