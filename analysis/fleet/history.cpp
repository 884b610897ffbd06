#include "analysis/fleet/history.hpp"

#include "analysis/fleet/healthy.hpp"
#include "analysis/fleet/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
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
        std::vector<double> steps;
        for (const auto& [node, weeks] : nodes_) {
            Ratios& own = ratios_[node];
            for (const auto& [week, x] : weeks)
                if (const auto median = medians_.find(week); median != medians_.end())
                    own.emplace_back(week, x - median->second);
            for (std::size_t t = 1; t < own.size(); ++t) steps.push_back(own[t].second - own[t - 1].second);
        }
        constexpr std::size_t fewest_steps = 20;
        if (steps.size() < fewest_steps) return;
        sigma_ = std::max(1e-5, std::sqrt(SortedRates(std::move(steps)).median_and_variance(no_place).second / 2));
    }

    /// Counts the steps from week to week. `places`: of the nodes in `counts`.
    void count(TailCounts& counts, const std::map<std::string, std::size_t>& places, HealthyTables& tables) const
    {
        constexpr std::size_t as_many = 1000;  // sigma is as good as certain
        if (sigma_ <= 0) return;
        for (const auto& [node, own] : ratios_)
            for (std::size_t t = 1; t < own.size(); ++t)
                counts.add(places.at(node), (own[t].second - own[t - 1].second) / (sigma_ * std::numbers::sqrt2),
                           tables.healthy(as_many, {}));
    }

    /// Appends a candidate for each node with enough weeks. `tails`: of each node.
    void find_drifts(const std::vector<Tails>& tails, const std::map<std::string, std::size_t>& places,
                     std::vector<Candidate>& candidates) const
    {
        if (sigma_ <= 0) return;
        for (const auto& [node, own] : ratios_)
            if (own.size() >= fewest_weeks) candidates.push_back(candidate(node, own, tails[places.at(node)][0]));
    }

    /// Standard deviation of a node's week; 0: unknown.
    double sigma() const { return sigma_; }

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
    using Ratios = std::vector<std::pair<std::string, double>>;

    /// The largest C of `values`, and how many weeks are before the change.
    std::pair<double, std::size_t> largest(const std::vector<double>& values) const
    {
        const auto count = static_cast<double>(values.size());
        const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
        double sum = 0;
        std::pair<double, std::size_t> most{0, 1};
        for (std::size_t t = 0; t + 1 < values.size(); ++t) {
            sum += values[t] - mean;
            if (sum > most.first) most = {sum, t + 1};
        }
        most.first /= sigma_ * std::sqrt(count);
        return most;
    }

    /// `normal`: the weight of a normal scatter. With another, a week counts as 1.75 standard deviations from the node's median at most, so
    /// that no single one makes a drift.
    Candidate candidate(const std::string& node, const Ratios& own, double normal) const
    {
        std::vector<double> values;
        for (const auto& [week, d] : own) values.push_back(d);
        const auto [c, before] = largest(values);
        const double median = median_of(values);
        std::vector<double> cut = values;
        for (double& d : cut) d = median + std::clamp(d - median, -winsorized * sigma_, winsorized * sigma_);
        const double of_cut = largest(cut).first;
        const double chance = normal * std::exp(-2 * c * c) + (1 - normal) * std::exp(-2 * of_cut * of_cut);
        const auto count = static_cast<double>(own.size());
        const auto first = static_cast<double>(before);
        const double change =
            -c * sigma_ * std::sqrt(count) * count / (first * (count - first));  // difference of the means
        return {{node, name_, own[before].first, std::exp(change), before, own.size() - before, chance},
                change < material_log()};
    }

    std::string name_;
    const NodeWeeks& nodes_;
    Weeks medians_{};
    std::map<std::string, Ratios> ratios_{};  ///< of each node's weeks, to the fleet's median
    double sigma_ = 0;
};

struct WeeklyScatter {
    double sigma = 0;   ///< of a node's week; 0: unknown
    double normal = 0;  ///< the weight of a normal scatter
};

/// C of a drop at the middle of the weeks is drop * sqrt(weeks) / (4 sigma), with a standard deviation of 1/2.
double visible_drop(const WeeklyScatter& scatter, std::size_t weeks, std::size_t tests)
{
    if (scatter.sigma <= 0 || tests == 0) return 0;
    constexpr double found = 1.645;  // 95%
    const double chance = error_chance / static_cast<double>(tests);
    const double root = std::sqrt(static_cast<double>(weeks));
    const double drop = 4 * scatter.sigma * (std::sqrt(-0.5 * std::log(chance)) + found / 2) / root;
    const bool is_cut = 1 - scatter.normal > chance;
    if (is_cut && drop > 2 * winsorized * scatter.sigma) return 0;
    return -std::expm1(-std::max(drop, -material_log() + found * 2 * scatter.sigma / root));
}

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
    std::vector<WeeklyScatter> scatters;
    HealthyTables tables;
    for (auto& [key, parts] : all) {
        std::ranges::stable_sort(parts, {}, &Series::first_time);
        std::vector<Series> joined;
        for (Series& part : parts)
            if (joined.empty() || !join(joined.back(), part)) joined.push_back(std::move(part));
        for (const Series& series : joined) {
            HistorySeries& found = result.emplace_back(HistorySeries{key.first, key.second, series.revisions});
            std::map<std::string, std::size_t> nodes;
            std::set<std::string> weeks;
            std::vector<CeilingHistory> ceilings;
            for (const auto& [name, of_nodes] : series.ceilings) {
                for (const auto& [node, of_weeks] : of_nodes) {
                    nodes.try_emplace(node, nodes.size());
                    for (const auto& [week, x] : of_weeks) weeks.insert(week);
                }
                ceilings.emplace_back(name, of_nodes);
            }
            TailCounts counts(nodes.size());
            for (const CeilingHistory& ceiling : ceilings) ceiling.count(counts, nodes, tables);
            const std::vector<Tails> tails = counts.weights(std::vector<Tails>(nodes.size(), tails_before()));
            const std::size_t before = candidates.size();
            std::vector<double> sigmas;
            for (const CeilingHistory& ceiling : ceilings) {
                ceiling.find_drifts(tails, nodes, candidates);
                ceiling.find_shifts(found.shifts);
                sigmas.push_back(ceiling.sigma());
            }
            found.tests = candidates.size() - before;
            scatters.push_back(tails.empty() ? WeeklyScatter{}  // each rate is a lower bound
                                             : WeeklyScatter{median_of(std::move(sigmas)), tails.front()[0]});
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
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i].visible = visible_drop(scatters[i], result[i].weeks.size(), candidates.size());
        std::ranges::stable_sort(result[i].drifts, {}, &NodeDrift::ratio);
    }
    return result;
}

}  // namespace roof::analysis
