#include "analysis/fleet/fleet_comparison.hpp"

#include "analysis/fleet/quantities.hpp"
#include "ert/method/ceilings/estimator.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

namespace roof::analysis {
namespace {

using NodeDigests = std::map<std::string, const Digest*>;
using Kinds = std::map<std::pair<std::string, std::string>, NodeDigests>;  ///< by kind and plan

/// The newest digest of each node.
Kinds newest_by_kind(const Fleet& fleet)
{
    Kinds kinds;
    for (const Digest& digest : fleet.digests) {
        const Digest*& newest = kinds[{digest.kind, digest.plan}][digest.node];
        if (newest == nullptr || newest->time <= digest.time) newest = &digest;
    }
    return kinds;
}

std::string usual_revision(const NodeDigests& nodes)
{
    std::map<std::string, std::size_t> number;
    for (const auto& [node, digest] : nodes) ++number[digest->revision];
    return std::ranges::max_element(number, {}, [](const auto& entry) { return entry.second; })->first;
}

struct CeilingRates {
    std::string unit;
    std::map<std::string, LogRate> nodes;
};

std::map<std::string, CeilingRates> rates_of(const NodeDigests& nodes)
{
    std::map<std::string, CeilingRates> rates;
    for (const auto& [node, digest] : nodes) {
        for (const DigestRate& rate : digest->ceilings) {
            if (rate.is_lower_bound()) continue;
            CeilingRates& ceiling = rates[rate.name()];
            ceiling.unit = rate.unit();
            ceiling.nodes[node] = log_rate(rate);
        }
    }
    return rates;
}

std::vector<double> values_of(const CeilingRates& rates)
{
    std::vector<double> values;
    for (const auto& [node, rate] : rates.nodes) values.push_back(rate.x);
    return values;
}

/// The chance of exactly `k` of `n` signs.
double chance_of(std::size_t k, std::size_t n)
{
    const auto ln_factorial = [](std::size_t m) { return std::lgamma(static_cast<double>(m) + 1); };
    return std::exp(ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k) -
                    static_cast<double>(n) * std::numbers::ln2);
}

/// The chance that of `n` signs at most `few` are the rarer one.
double chance_of_signs(std::size_t few, std::size_t n)
{
    double chance = 0;
    for (std::size_t k = 0; k <= few; ++k) chance += 2 * chance_of(k, n);
    return std::min(1.0, chance);
}

/// The median of the nodes' own ratios, with the interval and the chance of the sign test: they hold for any scatter.
void of_pairs(std::vector<double> differences, CeilingChange& change)
{
    std::ranges::sort(differences);
    const std::size_t n = differences.size();
    constexpr double outside = 0.05;
    std::size_t end = 0;  // of the interval: a place from below, and from above
    double beyond = 2 * chance_of(0, n);
    while (2 * (end + 2) < n && (beyond += 2 * chance_of(end + 1, n)) <= outside) ++end;
    change.low = std::exp(differences[end]);
    change.high = std::exp(differences[n - 1 - end]);
    change.ratio = std::exp(median_of(differences));
    const auto down = static_cast<std::size_t>(std::ranges::count_if(differences, [](double d) { return d < 0; }));
    const auto up = static_cast<std::size_t>(std::ranges::count_if(differences, [](double d) { return d > 0; }));
    change.chance = chance_of_signs(std::min(down, up), down + up);
}

/// Different nodes: the ratio of medians, and Mann and Whitney's test.
void of_fleets(std::vector<double> a, const std::vector<double>& b, CeilingChange& change)
{
    const auto [median_a, variance_a] = SortedRates(a).median_and_variance(no_place);
    const auto [median_b, variance_b] = SortedRates(b).median_and_variance(no_place);
    constexpr double normal_95 = 1.96;
    const double half =
        normal_95 *
        std::sqrt(0.5 * std::numbers::pi *
                  (variance_a / static_cast<double>(a.size()) + variance_b / static_cast<double>(b.size())));
    change.ratio = std::exp(median_b - median_a);
    change.low = change.ratio * std::exp(-half);
    change.high = change.ratio * std::exp(half);
    std::vector<std::size_t> of_a(a.size());
    std::iota(of_a.begin(), of_a.end(), std::size_t{0});
    a.insert(a.end(), b.begin(), b.end());
    change.chance = chance_of_difference(ranks_of(a), of_a);
}

CeilingChange change_of(const std::string& name, const CeilingRates& a, const CeilingRates& b)
{
    CeilingChange change{.ceiling = name, .unit = b.unit, .nodes_a = a.nodes.size(), .nodes_b = b.nodes.size()};
    change.median_a = std::exp(median_of(values_of(a)));
    change.median_b = std::exp(median_of(values_of(b)));
    std::vector<double> differences;
    for (const auto& [node, rate] : b.nodes)
        if (const auto before = a.nodes.find(node); before != a.nodes.end())
            differences.push_back(rate.x - before->second.x);
    change.common = differences.size();
    if (change.common >= fewest_compared)
        of_pairs(std::move(differences), change);
    else
        of_fleets(values_of(a), values_of(b), change);
    return change;
}

void decide(std::vector<FleetComparison>& kinds)
{
    std::vector<CeilingChange*> all;
    std::vector<double> chances;
    for (FleetComparison& kind : kinds) {
        for (CeilingChange& change : kind.ceilings) {
            all.push_back(&change);
            chances.push_back(change.chance);
        }
    }
    const std::vector<bool> certain = holm(chances, chances.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        CeilingChange& change = *all[i];
        const bool is_enough =
            change.common >= fewest_compared || std::min(change.nodes_a, change.nodes_b) >= fewest_compared;
        if (!is_enough) continue;
        if (certain[i] && std::log(change.high) < material_log())
            change.change = ChangeVerdict::slower;
        else if (certain[i] && std::log(change.low) > -material_log())
            change.change = ChangeVerdict::faster;
        else if (std::log(change.low) > material_log() && std::log(change.high) < -material_log())
            change.change = ChangeVerdict::same;
    }
}

/// The ratio of the node's rates, with both intervals in its own.
Digest ratios_of(const Digest& a, const Digest& b)
{
    Digest ratios{
        .node = b.node, .kind = b.kind, .plan = b.plan, .revision = b.revision, .time = b.time, .facts = b.facts};
    for (const DigestRate& rate : b.ceilings) {
        const DigestRate* const before = a.find(rate.name());
        if (before == nullptr || before->is_lower_bound() || rate.is_lower_bound()) continue;
        const int rounds = std::min(rate.rounds, before->rounds);
        const double half =
            half_width_in_errors(rounds) * std::sqrt(log_rate(rate).variance + log_rate(*before).variance);
        const double ratio = rate.value / before->value;
        ratios.ceilings.push_back(
            {rate.words, ratio, ratio * std::exp(-half), ratio * std::exp(half), 0, rate.n, rounds});
    }
    return ratios;
}

}  // namespace

FleetChanges compare_fleets(const Fleet& a, const Fleet& b)
{
    FleetChanges changes;
    const Kinds of_a = newest_by_kind(a);
    const Kinds of_b = newest_by_kind(b);
    Fleet ratios{.digests = {}, .expected = b.expected};
    for (const auto& [key, nodes_b] : of_b) {
        const auto found = of_a.find(key);
        if (found == of_a.end()) continue;
        const NodeDigests& nodes_a = found->second;
        FleetComparison& comparison = changes.kinds.emplace_back(
            FleetComparison{key.first, key.second, usual_revision(nodes_a), usual_revision(nodes_b), {}});
        const auto rates_a = rates_of(nodes_a);
        for (const auto& [name, rates] : rates_of(nodes_b))
            if (const auto before = rates_a.find(name); before != rates_a.end())
                comparison.ceilings.push_back(change_of(name, before->second, rates));
        for (const auto& [node, digest] : nodes_b)
            if (const auto before = nodes_a.find(node); before != nodes_a.end())
                ratios.digests.push_back(ratios_of(*before->second, *digest));
    }
    decide(changes.kinds);
    changes.nodes = judge(ratios);
    changes.nodes.aside.clear();
    std::set<std::string> in_a;
    std::set<std::string> in_b;
    for (const Digest& digest : a.digests) in_a.insert(digest.node);
    for (const Digest& digest : b.digests) in_b.insert(digest.node);
    std::ranges::set_difference(in_a, in_b, std::back_inserter(changes.only_a));
    std::ranges::set_difference(in_b, in_a, std::back_inserter(changes.only_b));
    changes.nodes.refused = a.refused;
    changes.nodes.refused.insert(changes.nodes.refused.end(), b.refused.begin(), b.refused.end());
    return changes;
}

}  // namespace roof::analysis
