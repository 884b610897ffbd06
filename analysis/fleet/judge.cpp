#include "analysis/fleet/judge.hpp"

#include "analysis/fleet/associations.hpp"
#include "analysis/fleet/group_judge.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace roof::analysis {
namespace {

/// A day counts as slow for a node that is slow on some days only.
constexpr double chance_of_slow_day = 0.01;

/// Of a node that is slow on some days: on how many, if it is slow again after a day that was not; 0 else, as of one that was repaired.
std::size_t slow_days(const LowRate& low)
{
    std::vector<bool> slow;
    for (const double chance : low.others) slow.push_back(chance <= chance_of_slow_day);
    slow.push_back(low.newest < low.limit);
    const auto first = std::ranges::find(slow, true);
    const auto fast = std::find(first, slow.end(), false);
    const auto again = std::find(fast, slow.end(), true);
    const auto number = static_cast<std::size_t>(std::ranges::count(slow, true));
    return slow.back() || again != slow.end() ? number : 0;
}

bool is_slow(const LowRate& low)
{
    if (low.high >= low.limit && !low.is_bound) return false;
    switch (low.view) {
        case View::newest:
        case View::mean_of_days:
            return low.newest < low.limit;
        case View::slower_days:
            return slow_days(low) > 1;
    }
    return false;
}

NodeCeiling found_of(const LowRate& low, bool slow, bool on_another_day)
{
    NodeCeiling found{.ceiling = low.ceiling->name,
                      .finding = slow ? Finding::slow : Finding::undecided,
                      .ratio = std::exp(low.x - low.median),
                      .low = std::exp(low.low - low.median),
                      .high = std::exp(low.high - low.median),
                      .chance = low.chance,
                      .days = low.days,
                      .on_another_day = on_another_day};
    if (low.view == View::slower_days)
        found.reason = fmt::format("slow on {} of {} days", slow_days(low), low.others.size() + 1);
    else if (low.is_bound)
        found.reason = slow ? "disturbed each time, and far below the others" : "the rate is only a lower bound";
    else if (!slow)
        found.reason = "measure again";
    return found;
}

/// Makes the lists over all groups, and puts what they hold into the findings.
void decide(const GroupTests& tests)
{
    for (const bool is_mean : {false, true}) {
        std::vector<const LowRate*> lows;
        std::vector<double> chances;
        for (const LowRate& low : tests.low) {
            if (low.is_mean != is_mean) continue;
            lows.push_back(&low);
            chances.push_back(low.chance);
        }
        const std::size_t count = is_mean ? tests.means : tests.ceilings;
        const double error = is_mean ? error_of_means : error_of_ceilings;
        const std::vector<bool> by_holm = holm(chances, count, error);
        const std::vector<bool> by_bh = benjamini_hochberg(chances, count, error);
        std::vector<bool> slow(lows.size());
        for (std::size_t i = 0; i < lows.size(); ++i) slow[i] = by_holm[i] && is_slow(*lows[i]);
        const auto number = static_cast<double>(std::max<std::ptrdiff_t>(1, std::ranges::count(slow, true)));
        for (std::size_t i = 0; i < lows.size(); ++i) {
            const LowRate& low = *lows[i];
            const bool again = std::ranges::any_of(low.others, [&](double chance) { return chance * number <= error; });
            if (low.is_bound) slow[i] = slow[i] && again;  // the rate may be higher: one day tells nothing
            const bool reaches =
                low.is_wide && (low.is_bound || low.chance_of_low * static_cast<double>(count) <= error);
            const bool is_listed = by_bh[i] && low.view != View::slower_days;
            if (!slow[i] && !is_listed && !reaches) continue;
            NodeFinding& node = *low.member->finding;
            node.drain = node.drain || (slow[i] && again && low.ceiling->nodes >= fewest_drained);
            node.ceilings.push_back(found_of(low, slow[i], slow[i] && again));
        }
    }
    for (const Visibility& of : tests.visibilities) {
        const std::size_t count = of.is_mean ? tests.means : tests.ceilings;
        const double error = of.is_mean ? error_of_means : error_of_ceilings;
        constexpr double found = 1.645;  // 95%
        const double cut = of.healthy->distance(error / static_cast<double>(count), of.tails);
        const double by_chance = (cut - found) * of.deviation;
        const double by_material = of.material - of.half - found * of.deviation;
        of.ceiling->visible = -std::expm1(std::min(by_chance, by_material));
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
        if (found.finding == Finding::missing || found.finding <= node.finding) continue;
        node.finding = found.finding;
        node.reason.clear();
    }
    std::ranges::stable_sort(node.ceilings, {},
                             [](const NodeCeiling& c) { return std::tuple(-static_cast<int>(c.finding), c.ratio); });
}

void add_notes(FleetFindings& findings, const Membership& membership)
{
    const auto any_ceiling = [&](auto&& is_so) {
        return std::ranges::any_of(findings.groups,
                                   [&](const FleetGroup& g) { return std::ranges::any_of(g.ceilings, is_so); });
    };
    if (findings.groups.empty() && findings.aside.empty())
        findings.notes.emplace_back("There is no digest of ceilings: nothing was judged.");
    if (any_ceiling([](const CeilingFinding& c) { return c.nodes > 0 && c.day_to_day == 0; }))
        findings.notes.emplace_back(
            "An interval covers one visit of a node. How much a node differs from day to day is not in it, so it is "
            "too narrow; ten nodes with digests of three days each would tell.");
    const bool has_days = std::ranges::any_of(membership.groups, [](const auto& group) {
        return std::ranges::any_of(group.second, [](const Member& member) { return member.days.size() > 1; });
    });
    if (!has_days && !findings.groups.empty())
        findings.notes.emplace_back(
            "No node has digests of two days: nothing is to be drained before a second measurement on another day.");
}

}  // namespace

FleetFindings judge(const Fleet& fleet, const JudgeOptions& options)
{
    FleetFindings findings{.groups = {}, .refused = fleet.refused, .notes = fleet.notes};
    Membership membership = members_of(fleet, options);
    findings.groups.reserve(membership.groups.size());
    GroupTests tests;
    for (auto& [key, members] : membership.groups) {
        const auto& [kind, plan, revision, by] = key;
        FleetGroup& group = findings.groups.emplace_back(FleetGroup{kind, plan, revision, by, {}, {}});
        group.nodes.resize(members.size());
        for (std::size_t i = 0; i < members.size(); ++i) {
            NodeFinding& node = group.nodes[i];
            node.node = members[i].newest().node;
            if (const auto remark = membership.remarks.find(node.node); remark != membership.remarks.end())
                node = remark->second;
            members[i].finding = &node;
        }
        compare_nodes(group, members, tests);
        group.associations = find_associations(group, members);
    }
    findings.tests = tests.ceilings + tests.means;
    decide(tests);
    std::set<std::string> seen;
    for (const Digest& digest : fleet.digests)
        for (const DigestRate& link : digest.links)
            for (const std::string& end : split(link.name(), ' ')) seen.insert(end);
    for (FleetGroup& group : findings.groups) {
        for (NodeFinding& node : group.nodes) {
            finish(node, group.ceilings);
            seen.insert(node.node);
        }
    }
    findings.aside = std::move(membership.aside);
    for (const NodeFinding& node : findings.aside) seen.insert(node.node);
    for (const ExpectedNode& node : fleet.expected)
        if (!seen.contains(node.node))
            findings.aside.push_back(
                {.node = node.node, .finding = Finding::missing, .reason = "expected, and there is no digest"});
    add_notes(findings, membership);
    return findings;
}

int status_of(const FleetFindings& findings, bool has_links)
{
    Finding worst = findings.refused.empty() ? Finding::fine : Finding::not_judged;
    if (findings.groups.empty() && !has_links) worst = Finding::not_judged;
    for (const NodeFinding& node : findings.aside) worst = std::max(worst, node.finding);
    for (const FleetGroup& group : findings.groups)
        for (const NodeFinding& node : group.nodes) worst = std::max(worst, node.finding);
    return worst >= Finding::implausible ? 1 : worst == Finding::fine ? 0 : 2;
}

}  // namespace roof::analysis
