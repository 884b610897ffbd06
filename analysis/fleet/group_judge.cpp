#include "analysis/fleet/group_judge.hpp"

#include "analysis/fleet/quantity_judge.hpp"
#include "analysis/table/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace roof::analysis {
namespace {

/// How many of the quantities are as good as independent: their scatters are known so well only together.
double independent_of(const std::vector<QuantityJudge>& judges)
{
    constexpr std::uint32_t most_members = 64;
    constexpr double far = 3;
    std::vector<std::vector<float>> distances;
    for (const QuantityJudge& judge : judges) {
        if (judge.all() == nullptr) continue;
        std::vector<float> z(most_members, NAN);
        for (std::size_t k = 0; k < judge.all()->size(); ++k)
            if (const std::uint32_t i = judge.quantity().members[k]; i < most_members)
                z[i] = static_cast<float>(std::clamp(
                    (judge.newest(k).x - judge.all()->median()) / std::sqrt(judge.all()->variance()), -far, far));
        distances.push_back(std::move(z));
    }
    double squares = 0;
    std::size_t pairs = 0;
    for (std::size_t a = 0; a < distances.size(); ++a) {
        for (std::size_t b = a + 1; b < distances.size(); ++b) {
            double both = 0;
            double of_a = 0;
            double of_b = 0;
            double count = 0;
            for (std::size_t i = 0; i < most_members; ++i) {
                const double x = distances[a][i];
                const double y = distances[b][i];
                if (!std::isfinite(x) || !std::isfinite(y)) continue;
                both += x * y;
                of_a += x * x;
                of_b += y * y;
                ++count;
            }
            if (count < 3 || of_a <= 0 || of_b <= 0) continue;
            squares += both * both / (of_a * of_b) - 1 / (count - 1);
            ++pairs;
        }
    }
    const auto count = static_cast<double>(distances.size());
    const double alike = pairs > 0 ? std::max(0.0, squares / static_cast<double>(pairs)) : 0;
    return count / (1 + (count - 1) * alike);
}

/// Lets the scatters of all quantities say something about that of each, in one view.
void pool(std::vector<QuantityJudge>& judges, View view, double independent, HealthyTables& tables)
{
    std::vector<ScatterOf> scatters;
    for (QuantityJudge& judge : judges)
        for (const Compared& some : judge.compared())
            if (some.view == view) scatters.push_back({some.rates.get(), &tables.groups(some.places.size() + 1)});
    const PooledScatter pooled = pooled_scatter(scatters, independent);
    if (pooled.freedom <= 0) return;
    for (QuantityJudge& judge : judges) {
        for (Compared& some : judge.compared()) {
            const SimulatedGroups& simulated = tables.groups(some.places.size());
            if (some.view != view || some.rates->least_variance() > simulated.largest * pooled.variance) continue;
            some.pooled = pooled;
            some.freedom = simulated.freedom;
            some.healthy = &tables.healthy(some.places.size(), pooled);
        }
    }
}

/// For each member. `before`: the weights without these distances.
std::vector<Tails> tails_of(std::vector<QuantityJudge>& judges, View view, const std::vector<Tails>& before)
{
    TailCounts counts(before.size());
    for (QuantityJudge& judge : judges)
        for (const Compared& some : judge.compared())
            if (some.view == view)
                for (std::size_t i = 0; i < some.places.size(); ++i)
                    counts.add(judge.quantity().members[some.places[i]], some.distance(some.rates->rate(i), i),
                               *some.healthy);
    return counts.weights(before);
}

/// What the newest rates show holds before the means over days show more.
TailsOfViews tails_of_views(std::vector<QuantityJudge>& judges, const std::vector<Tails>& before)
{
    TailsOfViews tails;
    const auto& newest = tails[View::newest] = tails_of(judges, View::newest, before);
    for (const View view : {View::mean_of_days, View::slower_days}) tails[view] = tails_of(judges, view, newest);
    return tails;
}

/// Says which nodes could not be judged: too few nodes, or too few of their ceilings.
void find_unjudged(std::vector<Member>& members, const std::vector<std::size_t>& judged, std::size_t ceilings)
{
    for (std::size_t i = 0; i < members.size(); ++i) {
        NodeFinding& node = *members[i].finding;
        if (node.finding >= Finding::not_judged || 2 * judged[i] > ceilings) continue;
        node.finding = Finding::not_judged;
        node.reason = members.size() < fewest_compared
                          ? fmt::format("{} of its kind, plan and revision {} too few to tell",
                                        how_many(members.size(), "node"), members.size() == 1 ? "is" : "are")
                          : fmt::format("{} of {} ceilings can be compared: the others are lower bounds or lacking",
                                        judged[i], ceilings);
    }
}

}  // namespace

void compare_nodes(FleetGroup& group, std::vector<Member>& members, GroupTests& tests)
{
    std::vector<NodeQuantity> ceilings = ceilings_of(members);
    std::vector<QuantityJudge> judges;
    judges.reserve(ceilings.size());
    constexpr std::size_t most_kinds = 64;
    group.ceilings.reserve(2 * ceilings.size() + most_kinds);  // the tests point to them
    std::vector<const RateGroup*> groups;
    const double chance = error_of_populations / static_cast<double>(std::max<std::size_t>(1, ceilings.size()));
    for (NodeQuantity& quantity : ceilings) {
        judges.emplace_back(quantity, group.ceilings.emplace_back(), members, tests).divide(chance);
        groups.push_back(judges.back().all());
    }
    const double independent = independent_of(judges);
    for (const View view : {View::newest, View::mean_of_days, View::slower_days})
        pool(judges, view, independent, tests.tables);
    const TailsOfViews tails = tails_of_views(judges, std::vector<Tails>(members.size(), tails_before()));
    std::vector<std::size_t> judged(members.size());
    for (QuantityJudge& judge : judges) {
        judge.test(tails, false);
        judge.test_bounds(judged);
    }
    std::vector<NodeQuantity> means = means_of(ceilings, groups, members.size());
    std::vector<QuantityJudge> of_means;
    of_means.reserve(means.size());
    for (NodeQuantity& quantity : means)
        of_means.emplace_back(quantity, group.ceilings.emplace_back(), members, tests).divide(chance);
    const TailsOfViews tails_of_means = tails_of_views(of_means, tails.at(View::newest));
    for (QuantityJudge& judge : of_means) judge.test(tails_of_means, true);
    for (const NodeQuantity& quantity : ceilings)
        for (const std::uint32_t i : quantity.without)
            members[i].finding->ceilings.push_back(
                {quantity.name, Finding::missing, 0, 0, 0, 1, 1, false, "the node's digest lacks it"});
    find_unjudged(members, judged, ceilings.size());
}

}  // namespace roof::analysis
