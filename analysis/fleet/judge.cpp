#include "analysis/fleet/judge.hpp"

#include "analysis/fleet/associations.hpp"
#include "analysis/fleet/group_judge.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

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

std::vector<Association> associations_in(const FleetGroup& group, const std::vector<Member>& members)
{
    std::vector<FactsOfNode> facts;
    for (const Member& member : members) facts.push_back({&member.facts, &member.newest()});
    return find_associations(group, facts);
}

}  // namespace

std::string_view name(Finding finding)
{
    switch (finding) {
        case Finding::not_slow:
            return "not slow";
        case Finding::undecided:
            return "undecided";
        case Finding::slow:
            return "slow";
        case Finding::implausible:
            return "implausible";
        case Finding::missing:
            return "missing";
    }
    return "?";
}

FleetFindings judge(const Fleet& fleet, const std::string& group_by)
{
    FleetFindings findings{.groups = {}, .refused = fleet.refused};
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
        group.associations = associations_in(group, members);
    }
    findings.tests = tests.count;
    decide(tests);
    std::set<std::string> seen;
    for (const Digest& digest : fleet.digests)
        for (const DigestRate& link : digest.links)
            for (std::string& end : split(link.name, ' ')) seen.insert(std::move(end));
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
