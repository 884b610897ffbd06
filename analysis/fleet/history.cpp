#include "analysis/fleet/history.hpp"

#include "analysis/fleet/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string_view>
#include <tuple>

namespace roof::analysis {
namespace {

namespace chrono = std::chrono;

using Weeks = std::map<std::string, double>;  ///< by the Monday: ln of the rate

/// The Monday of the week of "2026-11-22T…".
std::string week_of(const std::string& time)
{
    const chrono::sys_days date{day_of(time)};
    const chrono::year_month_day monday{date - (chrono::weekday(date) - chrono::Monday)};
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(monday.year()), static_cast<unsigned>(monday.month()),
                       static_cast<unsigned>(monday.day()));
}

/// The nodes' weeks of one ceiling by one revision, or by joined ones.
using NodeWeeks = std::map<std::string, Weeks>;

struct Series {
    std::vector<std::string> revisions{};
    std::string first_time{};
    std::map<std::string, NodeWeeks> ceilings{};
};

Series series_of(const std::vector<const Digest*>& digests)
{
    std::map<std::tuple<std::string_view, std::string_view, std::string>, std::vector<double>> rates;
    for (const Digest* digest : digests)
        for (const DigestRate& rate : digest->ceilings)
            if (!rate.is_lower_bound())
                rates[{rate.name(), digest->node, week_of(digest->time)}].push_back(std::log(rate.value));
    Series series;
    series.first_time = (*std::ranges::min_element(digests, {}, [](const Digest* d) { return d->time; }))->time;
    for (const auto& [key, values] : rates) {
        const auto& [ceiling, node, week] = key;
        double sum = 0;
        for (const double x : values) sum += x;
        series.ceilings[std::string(ceiling)][std::string(node)][week] = sum / static_cast<double>(values.size());
    }
    return series;
}

/// The differences of `later` to `earlier` in the weeks that both have of one node.
std::vector<double> common_differences(const NodeWeeks& earlier, const NodeWeeks& later)
{
    std::vector<double> differences;
    for (const auto& [node, weeks] : later) {
        const auto before = earlier.find(node);
        if (before == earlier.end()) continue;
        for (const auto& [week, x] : weeks) {
            const auto found = before->second.find(week);
            if (found == before->second.end()) continue;
            differences.push_back(x - found->second);
            break;
        }
    }
    return differences;
}

/// Puts `later` onto the scale of `earlier` and behind it, if enough nodes ran both in one week.
bool join(Series& earlier, const Series& later)
{
    std::map<std::string, double> offsets;
    for (const auto& [ceiling, nodes] : later.ceilings) {
        const auto before = earlier.ceilings.find(ceiling);
        if (before == earlier.ceilings.end()) continue;
        std::vector<double> differences = common_differences(before->second, nodes);
        if (differences.size() >= fewest_joining) offsets[ceiling] = median_of(std::move(differences));
    }
    if (offsets.empty()) return false;
    for (const auto& [ceiling, offset] : offsets)
        for (const auto& [node, weeks] : later.ceilings.at(ceiling))
            for (const auto& [week, x] : weeks) earlier.ceilings[ceiling][node].try_emplace(week, x - offset);
    earlier.revisions.insert(earlier.revisions.end(), later.revisions.begin(), later.revisions.end());
    return true;
}

struct Candidate {
    NodeDrift drift;
    bool is_material = false;
};

class CeilingHistory {
  public:
    CeilingHistory(std::string name, const NodeWeeks& nodes) : name_(std::move(name)), nodes_(nodes)
    {
        std::map<std::string, std::vector<double>> rates;
        for (const auto& [node, weeks] : nodes_)
            for (const auto& [week, x] : weeks) rates[week].push_back(x);
        for (auto& [week, values] : rates)
            if (values.size() >= fewest_compared) medians_[week] = median_of(std::move(values));
    }

    /// Appends a candidate for each node with enough weeks.
    void find_drifts(std::vector<Candidate>& candidates) const
    {
        std::vector<double> steps;
        std::map<std::string_view, std::vector<std::pair<std::string, double>>> ratios;
        for (const auto& [node, weeks] : nodes_) {
            auto& own = ratios[node];
            for (const auto& [week, x] : weeks)
                if (const auto median = medians_.find(week); median != medians_.end())
                    own.emplace_back(week, x - median->second);
            for (std::size_t t = 1; t < own.size(); ++t) steps.push_back(own[t].second - own[t - 1].second);
        }
        constexpr std::size_t fewest_steps = 20;
        if (steps.size() < fewest_steps) return;
        const double sigma =
            std::max(1e-5, std::sqrt(SortedRates(std::move(steps)).median_and_variance(no_place).second / 2));
        for (const auto& [node, own] : ratios)
            if (own.size() >= fewest_weeks) candidates.push_back(candidate(std::string(node), own, sigma));
    }

    /// The weeks in which most nodes changed materially, and certainly.
    void find_shifts(std::vector<FleetShift>& shifts) const
    {
        for (auto week = medians_.begin(); week != medians_.end() && std::next(week) != medians_.end(); ++week) {
            std::vector<double> changes;
            for (const auto& [node, weeks] : nodes_) {
                const auto before = weeks.find(week->first);
                const auto after = weeks.find(std::next(week)->first);
                if (before != weeks.end() && after != weeks.end()) changes.push_back(after->second - before->second);
            }
            if (changes.size() < fewest_compared) continue;
            const std::size_t n = changes.size();
            const auto [median, variance] = SortedRates(std::move(changes)).median_and_variance(no_place);
            constexpr double certain = 5;  // standard errors: no week of a healthy fleet's years
            const double half = certain * std::sqrt(0.5 * std::numbers::pi * variance / static_cast<double>(n));
            if (std::fabs(median) - half < 0 || std::fabs(median) < -material_log()) continue;
            shifts.push_back(
                {name_, std::next(week)->first, std::exp(median), std::exp(median - half), std::exp(median + half), n});
        }
    }

  private:
    Candidate candidate(std::string node, const std::vector<std::pair<std::string, double>>& own, double sigma) const
    {
        const auto count = static_cast<double>(own.size());
        double mean = 0;
        for (const auto& [week, d] : own) mean += d / count;
        double sum = 0;
        double most = 0;
        std::size_t before = 1;
        for (std::size_t t = 0; t + 1 < own.size(); ++t) {
            sum += own[t].second - mean;
            if (sum <= most) continue;
            most = sum;
            before = t + 1;
        }
        const double c = most / (sigma * std::sqrt(count));
        const auto first = static_cast<double>(before);
        const double change = -most * count / (first * (count - first));  // difference of the means
        return {{std::move(node), name_, own[before].first, std::exp(change), before, own.size() - before,
                 std::exp(-2 * c * c)},
                change < material_log()};
    }

    std::string name_;
    const NodeWeeks& nodes_;
    Weeks medians_{};
};

}  // namespace

std::vector<HistorySeries> judge_history(const Fleet& fleet)
{
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Digest*>> groups;
    for (const Digest& digest : fleet.digests) groups[{digest.kind, digest.plan, digest.revision}].push_back(&digest);
    std::map<std::pair<std::string, std::string>, std::vector<Series>> all;
    for (const auto& [key, digests] : groups) {
        const auto& [kind, plan, revision] = key;
        Series series = series_of(digests);
        series.revisions = {revision};
        all[{kind, plan}].push_back(std::move(series));
    }
    std::vector<HistorySeries> result;
    std::vector<Candidate> candidates;
    std::vector<std::size_t> series_of_candidate;
    for (auto& [key, parts] : all) {
        std::ranges::stable_sort(parts, {}, &Series::first_time);
        std::vector<Series> joined;
        for (Series& part : parts)
            if (joined.empty() || !join(joined.back(), part)) joined.push_back(std::move(part));
        for (const Series& series : joined) {
            HistorySeries& found = result.emplace_back(HistorySeries{key.first, key.second, series.revisions});
            std::set<std::string> nodes;
            std::set<std::string> weeks;
            for (const auto& [name, of_nodes] : series.ceilings) {
                for (const auto& [node, of_weeks] : of_nodes) {
                    nodes.insert(node);
                    for (const auto& [week, x] : of_weeks) weeks.insert(week);
                }
                const CeilingHistory ceiling(name, of_nodes);
                const std::size_t before = candidates.size();
                ceiling.find_drifts(candidates);
                found.tests += candidates.size() - before;
                ceiling.find_shifts(found.shifts);
            }
            found.nodes = nodes.size();
            found.weeks.assign(weeks.begin(), weeks.end());
            series_of_candidate.resize(candidates.size(), result.size() - 1);
        }
    }
    std::vector<double> chances;
    for (const Candidate& candidate : candidates) chances.push_back(candidate.drift.chance);
    const std::vector<bool> certain = holm(chances, chances.size());
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (certain[i] && candidates[i].is_material)
            result[series_of_candidate[i]].drifts.push_back(std::move(candidates[i].drift));
    for (HistorySeries& series : result) std::ranges::stable_sort(series.drifts, {}, &NodeDrift::ratio);
    return result;
}

}  // namespace roof::analysis
