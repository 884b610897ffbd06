#include "ert/method/plan/found.hpp"

#include "ert/method/ceilings/ceiling.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace roof {
namespace {

/// Working sets of the load sweep with so many threads.
std::set<long long> swept_sizes(std::span<const Measurement> rows, const MeasuredLevel& level)
{
    std::set<long long> sizes;
    for (const Measurement& row : rows) {
        if (row.role != Role::bandwidth || row.device != level.device || !row.point.has("working_set")) continue;
        if (row.point.has("threads") && row.point.integer("threads") != level.threads) continue;
        sizes.insert(row.point.integer("working_set"));
    }
    return sizes;
}

/// The size at which the level's ceiling was held, and a neighbour on the same level.
std::vector<long long> fastest_pair(const Ceilings& ceilings, const MeasuredLevel& level,
                                    const std::set<long long>& sizes)
{
    for (const Ceiling& ceiling : ceilings.all) {
        const bool is_load =
            ceiling.kind == Role::bandwidth && ceiling.operation == "load" && ceiling.condition.empty();
        if (!is_load || ceiling.device != level.device || ceiling.threads != level.threads) continue;
        if (ceiling.level != level.name) continue;
        const auto at = sizes.find(std::llround(ceiling.working_set.value));
        if (at == sizes.end()) return {};
        const auto next = std::next(at);
        if (next != sizes.end() && static_cast<double>(*next) <= level.to.value) return {*at, *next};
        if (at != sizes.begin() && static_cast<double>(*std::prev(at)) >= level.from.value)
            return {*std::prev(at), *at};
        return {*at};
    }
    return {};
}

/// Neighbouring sizes that nearly fill the level, ascending: there prefetchers have had time to start, and little of the set is
/// left in the level before. They follow from where the level ends alone, so that calibrations in a row choose alike: the size
/// at which loads were fastest would differ between them.
std::vector<long long> nearly_full(const std::set<long long>& sizes, const MeasuredLevel& level)
{
    constexpr double nearly = 0.8;
    const bool is_memory = level.beyond.value == 0;
    const std::size_t wanted = is_memory ? 2 : 3;
    const double most = is_memory ? level.to.value : nearly * level.to.value;
    std::vector<long long> held;
    for (auto size = sizes.upper_bound(std::llround(most)); size != sizes.begin() && held.size() < wanted;) {
        if (static_cast<double>(*--size) < level.from.value) break;
        held.insert(held.begin(), *size);
    }
    return held;
}

/// Between the level's last working set and the first beyond it, in whole pages for every thread.
std::vector<long long> across_the_edge(const MeasuredLevel& level)
{
    constexpr double least_gap = 1.15;
    constexpr long long page = 4096;
    if (level.beyond.value < level.to.value * least_gap) return {};
    std::vector<long long> sizes;
    for (const double share : {1.0 / 3, 2.0 / 3}) {
        const double size = level.to.value * std::pow(level.beyond / level.to, share);
        const long long step = page * level.threads;
        sizes.push_back(std::llround(size / static_cast<double>(step)) * step);
    }
    return sizes;
}

bool is_found_word(const Axis& axis, const std::string& value)
{
    return std::ranges::find(axis.found, value) != axis.found.end();
}

}  // namespace

FoundSizes find_sizes(std::span<const Measurement> rows, const Machine& machine)
{
    const Ceilings ceilings = fit_ceilings(rows, machine);
    FoundSizes found;
    for (const MeasuredLevel& level : ceilings.levels_by_threads) {
        const auto add = [&](const std::string& word, const std::vector<long long>& sizes) {
            auto& list = found[{level.device, level.threads, word}];
            list.insert(list.end(), sizes.begin(), sizes.end());
        };
        const std::set<long long> sizes = swept_sizes(rows, level);
        const std::vector<long long> pair = fastest_pair(ceilings, level, sizes);
        const std::vector<long long> full = nearly_full(sizes, level);
        add("levels", full.empty() ? pair : full);
        if (!pair.empty()) add("fastest", {pair.front()});
        add("edges", across_the_edge(level));
    }
    return found;
}

bool asks_for_findings(const Axes& axes, const Bench& bench, const Lab& lab)
{
    for (const Axis& axis : bench.axes(lab.machine())) {
        for (const auto& [name, values] : axes) {
            if (name != axis.name) continue;
            if (std::ranges::any_of(values, [&](const std::string& value) { return is_found_word(axis, value); }))
                return true;
        }
    }
    return false;
}

std::vector<std::string> sizes_for(const Item& item, const FoundSizes& sizes)
{
    const std::string& word = item.point.text("working_set");
    const int threads = item.point.has("threads") ? static_cast<int>(item.point.integer("threads")) : 1;
    const auto found = sizes.find({item.device, threads, word});
    std::vector<std::string> values;
    if (found == sizes.end()) return values;
    for (const long long size : found->second) values.push_back(std::to_string(size));
    return values;
}

}  // namespace roof
