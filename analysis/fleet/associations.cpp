#include "analysis/fleet/associations.hpp"

#include "analysis/fleet/quantities.hpp"
#include "analysis/fleet/robust.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>

namespace roof::analysis {
namespace {

/// The rates of the nodes that have the ceiling.
struct Rates {
    std::vector<double> values;
    std::vector<std::size_t> nodes;
};

std::vector<Rates> rates_by_ceiling(const FleetGroup& group, const std::vector<Member>& nodes)
{
    std::unordered_map<std::string_view, std::size_t> place;
    for (std::size_t c = 0; c < group.ceilings.size(); ++c) place[group.ceilings[c].name] = c;
    std::vector<Rates> rates(group.ceilings.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (const DigestRate& rate : nodes[i].newest().ceilings) {
            const auto found = place.find(rate.name());
            if (found == place.end() || rate.is_lower_bound()) continue;
            rates[found->second].values.push_back(rate.value);
            rates[found->second].nodes.push_back(i);
        }
    }
    return rates;
}

double median_ratio(const Rates& rates, const std::vector<std::size_t>& some)
{
    std::vector<bool> is_in(rates.values.size());
    for (const std::size_t i : some) is_in[i] = true;
    std::vector<double> in;
    std::vector<double> out;
    for (std::size_t i = 0; i < is_in.size(); ++i) (is_in[i] ? in : out).push_back(rates.values[i]);
    return median_of(std::move(in)) / median_of(std::move(out));
}

}  // namespace

std::vector<Association> find_associations(const FleetGroup& group, const std::vector<Member>& nodes)
{
    if (nodes.size() < fewest_drained) return {};
    std::map<std::string, std::map<std::string, std::vector<std::size_t>>>
        values;  // the nodes with each value of each fact
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (const auto& [fact, value] : nodes[i].facts) values[fact][value].push_back(i);
    const std::vector<Rates> rates = rates_by_ceiling(group, nodes);
    std::vector<Association> found;
    std::vector<double> chances;
    std::size_t tests = 0;
    for (std::size_t c = 0; c < rates.size(); ++c) {
        const std::vector<double> ranks = ranks_of(rates[c].values);
        std::vector<std::size_t> place(nodes.size(), ranks.size());
        for (std::size_t k = 0; k < rates[c].nodes.size(); ++k) place[rates[c].nodes[k]] = k;
        for (const auto& [fact, of_value] : values) {
            if (of_value.size() < 2) continue;
            for (const auto& [value, with_it] : of_value) {
                std::vector<std::size_t> some;
                for (const std::size_t i : with_it)
                    if (place[i] < ranks.size()) some.push_back(place[i]);
                if (std::min(some.size(), ranks.size() - some.size()) < fewest_ranked) continue;
                const double chance = chance_of_difference(ranks, some);
                ++tests;
                if (chance > error_chance) continue;
                const double ratio = median_ratio(rates[c], some);
                if (std::fabs(std::log(ratio)) < -material_log()) continue;
                found.push_back({fact, value, group.ceilings[c].name, some.size(), ratio, chance});
                chances.push_back(chance);
            }
        }
    }
    const std::vector<bool> kept = holm(chances, tests);
    std::vector<Association> listed;
    for (std::size_t i = 0; i < found.size(); ++i)
        if (kept[i]) listed.push_back(std::move(found[i]));
    std::ranges::stable_sort(listed, {}, [](const Association& a) { return -std::fabs(std::log(a.ratio)); });
    return listed;
}

}  // namespace roof::analysis
