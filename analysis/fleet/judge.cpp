#include "analysis/fleet/judge.hpp"

#include "analysis/fleet/group_judge.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace roof::analysis {
namespace {

/// Whether the node's digest of another day is as low. `others`: the number of slow rates that are asked this.
bool is_low_on_another_day(const LowRate& low, std::size_t others)
{
    const DigestRate* const rate = rate_on_another_day(*low.entry.member, low.ceiling->name);
    return rate != nullptr && std::log(rate->high) < low.median() + material_log() &&
           low.group->chance_as_low(log_rate(*rate), low.index) * static_cast<double>(others) <= error_chance;
}

/// Makes the lists over all groups, and puts what they hold into the findings.
void decide(const GroupTests& tests)
{
    std::vector<double> chances;
    for (const LowRate& low : tests.low) chances.push_back(low.chance);
    const std::vector<bool> by_holm = holm(chances, tests.count);
    const std::vector<bool> by_bh = benjamini_hochberg(chances, tests.count);
    std::vector<bool> slow(chances.size());
    for (std::size_t i = 0; i < slow.size(); ++i) {
        const LowRate& low = tests.low[i];
        const double limit = low.median() + material_log();
        slow[i] = by_holm[i] && low.entry.high < limit && std::log(low.entry.rate->value) < limit;
    }
    const auto number = static_cast<std::size_t>(std::ranges::count(slow, true));
    for (std::size_t i = 0; i < slow.size(); ++i) {
        const LowRate& low = tests.low[i];
        const bool reaches = low.chance_of_low * static_cast<double>(tests.count) <= error_chance;
        if (!slow[i] && !by_bh[i] && !reaches) continue;
        const double median = low.median();
        NodeCeiling found{.ceiling = low.ceiling->name,
                          .finding = slow[i] ? Finding::slow : Finding::undecided,
                          .ratio = std::exp(low.entry.x - median),
                          .low = std::exp(low.entry.low - median),
                          .high = std::exp(low.entry.high - median),
                          .chance = low.chance,
                          .days = low.entry.days,
                          .on_another_day = slow[i] && is_low_on_another_day(low, number),
                          .reason = slow[i] ? "" : "measure again"};
        NodeFinding& node = *low.entry.member->finding;
        node.drain = node.drain || (found.on_another_day && low.ceiling->nodes >= fewest_drained);
        node.ceilings.push_back(std::move(found));
    }
}

/// One row for each ceiling of the node, and its worst.
void finish(NodeFinding& node, std::vector<CeilingFinding>& ceilings)
{
    std::ranges::stable_sort(node.ceilings, {}, [](const NodeCeiling& c) {
        return std::tuple(-static_cast<int>(c.finding), c.days, c.ratio);
    });
    std::set<std::string> names;
    std::erase_if(node.ceilings, [&](const NodeCeiling& c) { return !names.insert(c.ceiling).second; });
    for (const NodeCeiling& found : node.ceilings) {
        CeilingFinding& ceiling = *std::ranges::find(ceilings, found.ceiling, &CeilingFinding::name);
        ceiling.slow += found.finding == Finding::slow;
        ceiling.undecided += found.finding == Finding::undecided || found.finding == Finding::implausible;
    }
    std::ranges::stable_sort(node.ceilings, {},
                             [](const NodeCeiling& c) { return std::tuple(-static_cast<int>(c.finding), c.ratio); });
    const auto any = [&](Finding finding) {
        return std::ranges::find(node.ceilings, finding, &NodeCeiling::finding) != node.ceilings.end();
    };
    node.finding = any(Finding::slow)          ? Finding::slow
                   : any(Finding::implausible) ? Finding::implausible
                   : node.ceilings.empty()     ? Finding::not_slow
                                               : Finding::undecided;
}

using GroupKey = std::tuple<std::string, std::string, std::string, std::string>;

/// The digests of each node and plan by the newest revision it ran, by group.
std::map<GroupKey, std::vector<Member>> members_of(const Fleet& fleet, const std::string& group_by)
{
    std::map<std::string_view, const ExpectedNode*> expected;
    for (const ExpectedNode& node : fleet.expected) expected[node.node] = &node;
    std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::vector<const Digest*>> of_node;
    for (const Digest& digest : fleet.digests)
        if (!digest.ceilings.empty()) of_node[{digest.node, digest.kind, digest.plan}].push_back(&digest);
    std::map<GroupKey, std::vector<Member>> groups;
    for (auto& [key, digests] : of_node) {
        std::ranges::stable_sort(digests, {}, [](const Digest* d) -> const std::string& { return d->time; });
        const Digest& newest = *digests.back();
        Member member;
        for (const Digest* digest : digests) {
            if (digest->revision != newest.revision) continue;
            if (!member.days.empty() && member.newest().day() == digest->day()) member.days.pop_back();
            member.days.push_back(digest);
        }
        member.facts = newest.facts;
        if (const auto found = expected.find(newest.node); found != expected.end())
            for (const auto& [fact, value] : found->second->facts) member.facts[fact] = value;
        const auto by = member.facts.find(group_by);
        GroupKey group{newest.kind, newest.plan, newest.revision,
                       group_by.empty()           ? ""
                       : by == member.facts.end() ? "unknown"
                                                  : by->second};
        groups[group].push_back(std::move(member));
    }
    return groups;
}

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
            const auto found = place.find(rate.name);
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

/// Facts of nodes (BIOS, kernel, rack, …) that go with a difference of a ceiling: every value of every fact against all other nodes, by
/// Mann and Whitney's test, corrected by Holm's method for all of them. Those that differ materially, the largest difference first; none for
/// fewer than `fewest_drained` nodes.
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

}  // namespace

FleetFindings judge(const Fleet& fleet, const std::string& group_by)
{
    FleetFindings findings{.groups = {}, .refused = fleet.refused};
    findings.notes = fleet.notes;
    auto groups = members_of(fleet, group_by);
    findings.groups.reserve(groups.size());
    GroupTests tests;
    for (auto& [key, members] : groups) {
        const auto& [kind, plan, revision, by] = key;
        FleetGroup& group = findings.groups.emplace_back(FleetGroup{kind, plan, revision, by, {}, {}});
        group.nodes.resize(members.size());
        for (std::size_t i = 0; i < members.size(); ++i) {
            group.nodes[i].node = members[i].newest().node;
            members[i].finding = &group.nodes[i];
        }
        compare_nodes(group, members, tests);
        group.associations = find_associations(group, members);
    }
    findings.tests = tests.count;
    decide(tests);
    std::set<std::string> seen;
    for (const Digest& digest : fleet.digests)
        for (const DigestRate& link : digest.links)
            for (const std::string& end : split(link.name, ' ')) seen.insert(end);
    for (FleetGroup& group : findings.groups) {
        for (NodeFinding& node : group.nodes) {
            finish(node, group.ceilings);
            seen.insert(node.node);
        }
    }
    for (const ExpectedNode& node : fleet.expected)
        if (!seen.contains(node.node)) findings.missing.push_back(node.node);
    const auto any_ceiling = [&](auto&& is_so) {
        return std::ranges::any_of(findings.groups,
                                   [&](const FleetGroup& g) { return std::ranges::any_of(g.ceilings, is_so); });
    };
    if (any_ceiling([](const CeilingFinding& c) { return c.nodes > 0 && c.day_to_day == 0; }))
        findings.notes.push_back(
            "An interval covers one visit of a node. How much a node differs from day to day is not in it, so it is "
            "too "
            "narrow; ten nodes with digests of three days each would tell.");
    const bool has_days = std::ranges::any_of(groups, [](const auto& group) {
        return std::ranges::any_of(group.second, [](const Member& member) { return member.days.size() > 1; });
    });
    if (!has_days)
        findings.notes.push_back(
            "No node has digests of two days: nothing is to be drained before a second measurement on another day.");
    return findings;
}

}  // namespace roof::analysis
