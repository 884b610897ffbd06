#include "analysis/fleet/judge.hpp"

#include "analysis/fleet/associations.hpp"
#include "analysis/study/ceiling_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <tuple>

namespace roof::analysis {
namespace {

const double material_log = std::log1p(-material);

/// The interval is 95% of a normal one on the scale of ln.
LogRate log_rate(const DigestRate& rate)
{
    constexpr double width = 3.92;
    const double s = (std::log(rate.high) - std::log(rate.low)) / width;
    return {std::log(rate.value), s * s};
}

bool is_usable(const DigestRate& rate)
{
    return !rate.is_lower_bound() && rate.state != "implausible";
}

struct Member {
    const Digest* digest = nullptr;
    const Digest* earlier = nullptr;  ///< the newest of another day; null if there is none
    NodeFinding* finding = nullptr;
    std::map<std::string, std::string> facts{};
};

/// The rate of a ceiling on a member, and its place among the comparable rates.
struct Entry {
    Member* member = nullptr;
    const DigestRate* rate = nullptr;
};

/// A rate that may be low, kept until the lists over the whole fleet are made.
struct Test {
    Entry entry;
    CeilingFinding* ceiling = nullptr;
    std::shared_ptr<const RateGroup> group;
    std::size_t index = 0;
    double chance = 1;         ///< that a healthy node lies as low
    double chance_of_low = 1;  ///< the same of the low end of its interval
};

const DigestRate* rate_named(const Digest& digest, const std::string& name)
{
    const auto found = std::ranges::find(digest.ceilings, name, &DigestRate::name);
    return found == digest.ceilings.end() ? nullptr : &*found;
}

NodeCeiling node_ceiling(const std::string& name, Finding finding, const DigestRate& rate, double median,
                         std::string reason)
{
    const double scale = std::exp(-median);
    return {name, finding, rate.value * scale, rate.low * scale, rate.high * scale, 1, false, std::move(reason)};
}

class GroupJudge {
  public:
    GroupJudge(FleetGroup& group, std::vector<Member>& members, std::vector<Test>& tests, std::size_t& count)
        : group_(group), members_(members), tests_(tests), count_(count)
    {
    }

    void judge()
    {
        std::map<std::string, std::vector<Entry>> by_name;
        for (Member& member : members_)
            for (const DigestRate& rate : member.digest->ceilings) by_name[rate.name].push_back({&member, &rate});
        group_.ceilings.reserve(by_name.size());
        for (const auto& [name, entries] : by_name) {
            if (2 * entries.size() < members_.size()) continue;  // most nodes have no such ceiling
            one(name, entries, by_name.size());
            if (entries.size() < members_.size()) mark_missing(name, entries);
        }
    }

  private:
    void one(const std::string& name, const std::vector<Entry>& entries, std::size_t ceilings)
    {
        std::vector<Entry> usable;
        std::vector<LogRate> rates;
        for (const Entry& entry : entries) {
            if (!is_usable(*entry.rate)) continue;
            usable.push_back(entry);
            rates.push_back(log_rate(*entry.rate));
        }
        CeilingFinding& ceiling = group_.ceilings.emplace_back();
        ceiling.name = name;
        ceiling.unit = entries.front().rate->unit;
        ceiling.nodes = usable.size();
        if (usable.empty()) return;
        const RateGroup all(rates);
        ceiling.median = std::exp(all.median());
        ceiling.scatter = all.scatter();
        for (const Entry& entry : entries)
            if (!is_usable(*entry.rate)) without_test(name, entry, all.median(), ceiling);
        if (usable.size() < fewest_compared) {
            for (const Entry& entry : usable)
                add(entry, node_ceiling(name, Finding::undecided, *entry.rate, all.median(),
                                        fmt::format("{} nodes are too few to tell", usable.size())));
            ceiling.undecided += usable.size();
            return;
        }
        const auto upper = all.upper_population(ceilings);
        const auto part = [&](std::size_t from, std::size_t to) {
            std::vector<Entry> some;
            std::vector<LogRate> of;
            for (std::size_t k = from; k < to; ++k) {
                some.push_back(usable[all.order()[k]]);
                of.push_back(rates[all.order()[k]]);
            }
            compare(some, std::make_shared<RateGroup>(std::move(of)), ceiling, upper.has_value());
        };
        const bool is_split = upper && *upper >= fewest_compared && usable.size() - *upper >= fewest_compared;
        if (is_split) part(0, *upper);
        part(is_split ? *upper : 0, usable.size());
    }

    /// Lower bounds, and what the node's own calibration calls impossible.
    void without_test(const std::string& name, const Entry& entry, double median, CeilingFinding& ceiling)
    {
        const bool is_bound = entry.rate->is_lower_bound();
        if (is_bound && std::log(entry.rate->low) >= median + material_log) return;
        ++ceiling.undecided;
        add(entry, node_ceiling(name, is_bound ? Finding::undecided : Finding::implausible, *entry.rate, median,
                                is_bound ? "the rate is only a lower bound" : "above what the core's spec allows"));
    }

    void compare(const std::vector<Entry>& entries, const std::shared_ptr<const RateGroup>& rates,
                 CeilingFinding& ceiling, bool is_population)
    {
        std::vector<double> specs;
        for (const Entry& entry : entries)
            if (entry.rate->spec > 0) specs.push_back(entry.rate->spec);
        const double spec = median_of(std::move(specs));
        if (is_population) {
            Population& population = ceiling.populations.emplace_back();
            population.median = std::exp(rates->median());
            for (const Entry& entry : entries) population.nodes.push_back(entry.member->digest->node);
            std::ranges::sort(population.nodes);
        }
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const DigestRate& rate = *entries[i].rate;
            ++count_;
            const LogRate value = log_rate(rate);
            const double median = rates->median_without(i);
            const bool is_above_spec = spec > 0 && rate.low > max_share_of_spec * spec;
            if (is_above_spec && rates->chance_as_low({2 * median - value.x, value.variance}, i) <
                                     error_chance / static_cast<double>(entries.size())) {
                ++ceiling.undecided;
                add(entries[i], node_ceiling(ceiling.name, Finding::implausible, rate, median,
                                             "above the spec that the others' digests state"));
                continue;
            }
            if (std::log(rate.low) >= median + material_log) continue;
            const double chance_of_low = rates->chance_as_low({std::log(rate.low), 0}, i);
            if (chance_of_low == 1) continue;
            tests_.push_back({entries[i], &ceiling, rates, i, rates->chance_as_low(value, i), chance_of_low});
        }
    }

    void mark_missing(const std::string& name, const std::vector<Entry>& entries)
    {
        std::set<const Member*> present;
        for (const Entry& entry : entries) present.insert(entry.member);
        for (Member& member : members_)
            if (!present.contains(&member))
                member.finding->ceilings.push_back(
                    {name, Finding::missing, 0, 0, 0, 1, false, "the node's digest lacks it"});
    }

    static void add(const Entry& entry, NodeCeiling ceiling)
    {
        entry.member->finding->ceilings.push_back(std::move(ceiling));
    }

    FleetGroup& group_;
    std::vector<Member>& members_;
    std::vector<Test>& tests_;
    std::size_t& count_;
};

/// Whether the node's digest of another day is as low. `others`: the number of slow rates that are asked this.
bool is_low_on_another_day(const Test& test, std::size_t others)
{
    const Digest* const earlier = test.entry.member->earlier;
    const DigestRate* const rate = earlier == nullptr ? nullptr : rate_named(*earlier, test.ceiling->name);
    if (rate == nullptr || !is_usable(*rate)) return false;
    return std::log(rate->high) < test.group->median_without(test.index) + material_log &&
           test.group->chance_as_low(log_rate(*rate), test.index) * static_cast<double>(others) <= error_chance;
}

/// Makes the lists over all groups, and puts what they hold into the findings.
void decide(std::vector<Test>& tests, std::size_t count)
{
    std::vector<double> chances;
    for (const Test& test : tests) chances.push_back(test.chance);
    const std::vector<bool> by_holm = holm(chances, count);
    const std::vector<bool> by_bh = benjamini_hochberg(chances, count);
    std::vector<bool> slow(tests.size());
    for (std::size_t i = 0; i < tests.size(); ++i)
        slow[i] = by_holm[i] &&
                  std::log(tests[i].entry.rate->high) < tests[i].group->median_without(tests[i].index) + material_log;
    const auto number = static_cast<std::size_t>(std::ranges::count(slow, true));
    for (std::size_t i = 0; i < tests.size(); ++i) {
        const Test& test = tests[i];
        const bool reaches = test.chance_of_low * static_cast<double>(count) <= error_chance;
        if (!slow[i] && !by_bh[i] && !reaches) continue;
        NodeCeiling found =
            node_ceiling(test.ceiling->name, slow[i] ? Finding::slow : Finding::undecided, *test.entry.rate,
                         test.group->median_without(test.index), slow[i] ? "" : "measure again");
        found.chance = test.chance;
        found.on_another_day = slow[i] && is_low_on_another_day(test, number);
        ++(slow[i] ? test.ceiling->slow : test.ceiling->undecided);
        NodeFinding& node = *test.entry.member->finding;
        node.drain = node.drain || (found.on_another_day && test.ceiling->nodes >= fewest_drained);
        node.ceilings.push_back(std::move(found));
    }
}

void finish(NodeFinding& node)
{
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

/// The newest digest of each node and plan, by group. Digests are ordered by node, kind, plan, revision and time.
std::map<GroupKey, std::vector<Member>> members_of(const Fleet& fleet, const std::string& group_by)
{
    std::map<std::string, const ExpectedNode*> expected;
    for (const ExpectedNode& node : fleet.expected) expected[node.node] = &node;
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Digest*>> of_node;
    for (const Digest& digest : fleet.digests) of_node[{digest.node, digest.kind, digest.plan}].push_back(&digest);
    std::map<GroupKey, std::vector<Member>> groups;
    for (auto& [key, digests] : of_node) {
        std::ranges::stable_sort(digests, {}, [](const Digest* d) -> const std::string& { return d->time; });
        Member member{.digest = digests.back()};
        for (const Digest* digest : digests)
            if (digest->revision == member.digest->revision && digest->day() != member.digest->day())
                member.earlier = digest;
        member.facts = member.digest->facts;
        if (const auto found = expected.find(member.digest->node); found != expected.end())
            for (const auto& [fact, value] : found->second->facts) member.facts[fact] = value;
        const auto by = member.facts.find(group_by);
        GroupKey group{member.digest->kind, member.digest->plan, member.digest->revision,
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
    for (const Member& member : members) facts.push_back({&member.facts, member.digest});
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
    std::vector<Test> tests;
    for (auto& [key, members] : groups) {
        const auto& [kind, plan, revision, by] = key;
        FleetGroup& group = findings.groups.emplace_back(FleetGroup{kind, plan, revision, by, {}, {}});
        group.nodes.resize(members.size());
        for (std::size_t i = 0; i < members.size(); ++i) {
            group.nodes[i].node = members[i].digest->node;
            members[i].finding = &group.nodes[i];
        }
        GroupJudge(group, members, tests, findings.tests).judge();
        group.associations = associations_in(group, members);
    }
    decide(tests, findings.tests);
    std::set<std::string> seen;
    for (FleetGroup& group : findings.groups) {
        for (NodeFinding& node : group.nodes) {
            finish(node);
            seen.insert(node.node);
        }
    }
    for (const ExpectedNode& node : fleet.expected)
        if (!seen.contains(node.node)) findings.missing.push_back(node.node);
    const bool has_days = std::ranges::any_of(groups, [](const auto& group) {
        return std::ranges::any_of(group.second, [](const Member& member) { return member.earlier != nullptr; });
    });
    findings.notes.push_back(
        "An interval covers one visit of a node. How much a node differs from day to day is not in it, so it is too "
        "narrow.");
    if (!has_days)
        findings.notes.push_back(
            "No node has digests of two days: nothing is to be drained before a second measurement on another day.");
    return findings;
}

}  // namespace roof::analysis
