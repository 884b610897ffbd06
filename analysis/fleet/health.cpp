#include "analysis/fleet/health.hpp"

#include "analysis/fleet/members.hpp"
#include "analysis/fleet/quantities.hpp"
#include "analysis/fleet/robust.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace roof::analysis {
namespace {

constexpr double far_rate = 0.1;
constexpr double far_mean = 0.05;

using Nodes = std::vector<const Digest*>;

/// The group of the reference that `now` belongs to; one of another kind where there is none of its own.
Nodes group_for(const Digest& now, const Fleet& reference)
{
    std::map<std::tuple<std::string, std::string, std::string>, Nodes> groups;
    for (const Digest& digest : reference.digests)
        if (digest.node != now.node && !digest.ceilings.empty())
            groups[{digest.kind, digest.plan, digest.revision}].push_back(&digest);
    std::set<std::string> names;
    for (const DigestRate& rate : now.ceilings) names.insert(rate.name());
    const Nodes* best = nullptr;
    std::tuple<bool, std::size_t, std::size_t> most{};
    for (const auto& [key, nodes] : groups) {
        const auto common = static_cast<std::size_t>(std::ranges::count_if(
            nodes.back()->ceilings, [&](const DigestRate& rate) { return names.contains(rate.name()); }));
        const std::tuple worth{std::get<0>(key) == now.kind, common, nodes.size()};
        if (common == 0 || (best != nullptr && worth <= most)) continue;
        best = &nodes;
        most = worth;
    }
    return best == nullptr ? Nodes{} : *best;
}

/// The newest rates of each node.
std::map<std::string, std::vector<double>> rates_of(const Nodes& nodes)
{
    std::map<std::string, const Digest*> newest;
    for (const Digest* digest : nodes)
        if (const Digest*& one = newest[digest->node]; one == nullptr || one->time <= digest->time) one = digest;
    std::map<std::string, std::vector<double>> rates;
    for (const auto& [node, digest] : newest)
        for (const DigestRate& rate : digest->ceilings) rates[rate.name()].push_back(std::log(rate.value));
    return rates;
}

/// Takes a lower bound for the rate.
void count_as_rate(DigestRate& rate)
{
    if (rate.is_lower_bound()) rate.high = rate.value * rate.value / rate.low;
}

/// Only what the group has too, by its plan and revision; lower bounds as rates.
Digest as_one_of(const Digest& now, const Nodes& nodes, const std::map<std::string, std::vector<double>>& rates)
{
    Digest one = now;
    one.plan = nodes.front()->plan;
    one.revision = nodes.front()->revision;
    std::erase_if(one.ceilings, [&](const DigestRate& rate) { return !rates.contains(rate.name()); });
    for (DigestRate& rate : one.ceilings) count_as_rate(rate);
    return one;
}

/// Lower bounds of the others count where too few of them have a rate: they lie too low, so that no node looks slow by that.
void judge_among(const Digest& now, const Nodes& nodes, HealthFinding& finding)
{
    Fleet fleet;
    std::map<std::string, std::set<std::string>> with_rate;
    for (const Digest* digest : nodes)
        for (const DigestRate& rate : digest->ceilings)
            if (!rate.is_lower_bound()) with_rate[rate.name()].insert(digest->node);
    for (const Digest* digest : nodes)
        for (DigestRate& rate : fleet.digests.emplace_back(*digest).ceilings)
            if (with_rate[rate.name()].size() + 1 < fewest_compared) count_as_rate(rate);
    fleet.digests.push_back(now);
    const FleetFindings found = judge(fleet);
    for (const FleetGroup& group : found.groups) {
        for (const NodeFinding& node : group.nodes) {
            if (node.node != now.node) continue;
            finding.finding = std::max(finding.finding, node.finding);
            if (!node.reason.empty()) finding.reason = node.reason;
            for (const NodeCeiling& low : node.ceilings)
                if (low.finding != Finding::missing) finding.low.push_back(low);
        }
    }
}

/// Without a scatter: 10% below the median of few nodes, or 5% in the mean of a kind.
void judge_beside(const Digest& now, const std::map<std::string, std::vector<double>>& rates, HealthFinding& finding)
{
    std::map<std::string, std::vector<double>> kinds;
    const auto add = [&](const std::string& name, double ratio, double low, double high) {
        finding.finding = Finding::slow;
        finding.low.push_back({name, Finding::slow, ratio, low, high});
    };
    for (const DigestRate& rate : now.ceilings) {
        const double median = std::exp(median_of(rates.at(rate.name())));
        kinds[kind_of_ceiling(rate.name())].push_back(std::log(rate.value / median));
        if (rate.high / median < 1 - far_rate)
            add(rate.name(), rate.value / median, rate.low / median, rate.high / median);
    }
    for (const auto& [kind, ratios] : kinds) {
        if (kind.empty() || ratios.size() < 2) continue;
        double mean = 0;
        for (const double ratio : ratios) mean += ratio / static_cast<double>(ratios.size());
        if (mean < std::log1p(-far_mean))
            add(fmt::format("{}, mean of {}", kind, ratios.size()), std::exp(mean), std::exp(mean), std::exp(mean));
    }
}

/// Not judged, or a kind that has lost something of `others`.
void compare_kinds(const std::string& kind, const std::set<std::string>& others, HealthFinding& finding)
{
    const bool lost = std::ranges::any_of(others, [&](const std::string& other) { return has_lost(kind, other); });
    finding.finding = std::max(finding.finding, lost ? Finding::changed_kind : Finding::not_judged);
    finding.reason = fmt::format("it is {}, and the reference is {}", kind,
                                 join(std::vector<std::string>(others.begin(), others.end()), " and "));
}

void judge_one(const Digest& now, const Fleet& reference, HealthFinding& finding)
{
    const Nodes nodes = group_for(now, reference);
    if (nodes.empty()) {
        finding.finding = std::max(finding.finding, Finding::not_judged);
        finding.reason = "the reference has no other node with any of what was measured";
        return;
    }
    const std::string& kind = nodes.front()->kind;
    if (now.kind != kind) return compare_kinds(now.kind, {kind}, finding);
    const auto rates = rates_of(nodes);
    const Digest one = as_one_of(now, nodes, rates);
    std::set<std::string> names;
    for (const Digest* digest : nodes) names.insert(digest->node);
    finding.nodes = std::max(finding.nodes, names.size());
    for (const DigestRate& rate : one.ceilings)
        finding.rates.push_back({rate.name(), rate.value / std::exp(median_of(rates.at(rate.name())))});
    if (names.size() >= fewest_compared - 1)
        judge_among(one, nodes, finding);
    else
        judge_beside(one, rates, finding);
}

}  // namespace

std::optional<HealthFinding> judge_reference(const std::string& node, const std::vector<std::string>& kinds,
                                             const Fleet& reference)
{
    std::set<std::string> others;
    for (const Digest& digest : reference.digests)
        if (digest.node != node && !digest.ceilings.empty()) others.insert(digest.kind);
    HealthFinding finding{.node = node, .reason = "the reference has no other node"};
    if (others.empty()) return finding;
    if (kinds.empty() || std::ranges::any_of(kinds, [&](const std::string& kind) { return others.contains(kind); }))
        return std::nullopt;
    for (const std::string& kind : kinds) compare_kinds(kind, others, finding);
    return finding;
}

HealthFinding judge_health(const std::vector<Digest>& now, const Fleet& reference)
{
    HealthFinding finding{.node = now.empty() ? "" : now.front().node};
    finding.finding = now.empty() ? Finding::not_judged : Finding::fine;
    if (now.empty()) finding.reason = "nothing could be measured";
    for (const Digest& digest : now) judge_one(digest, reference, finding);
    std::ranges::stable_sort(finding.low, {},
                             [](const NodeCeiling& c) { return std::tuple(-static_cast<int>(c.finding), c.ratio); });
    return finding;
}

int status_of(const HealthFinding& finding)
{
    return finding.finding >= Finding::implausible ? 1 : finding.finding == Finding::fine ? 0 : 2;
}

std::string health_line(const HealthFinding& finding)
{
    constexpr std::size_t most_listed = 3;
    std::string text = fmt::format("{} is {}", finding.node, name(finding.finding));
    std::vector<std::string> parts;
    if (!finding.reason.empty()) parts.push_back(finding.reason);
    for (std::size_t k = 0; k < std::min(finding.low.size(), most_listed); ++k)
        parts.push_back(fmt::format("{} at {:.3f}", finding.low[k].ceiling, finding.low[k].ratio));
    if (finding.low.size() > most_listed) parts.push_back(fmt::format("and {} more", finding.low.size() - most_listed));
    text += parts.empty() ? ": " + how_many(finding.rates.size(), "rate") : ": " + join(parts, ", ");
    if (finding.nodes > 0) text += "; to " + how_many(finding.nodes, "node");
    return printable(text);
}

std::string health_metrics(const HealthFinding& finding, double seconds)
{
    const auto label = [](const std::string& text) {
        std::string escaped;
        for (const char c : printable(text)) {
            if (c == '"' || c == '\\') escaped += '\\';
            escaped += c;
        }
        return escaped;
    };
    const std::string node = label(finding.node);
    std::string text =
        "# HELP roof_health 0: fine; 1: something is slow or changed; 2: not judged\n# TYPE roof_health gauge\n";
    text +=
        fmt::format("roof_health{{node=\"{}\",state=\"{}\"}} {}\n", node, name(finding.finding), status_of(finding));
    text += "# HELP roof_health_seconds what measuring and judging took\n# TYPE roof_health_seconds gauge\n";
    text += fmt::format("roof_health_seconds{{node=\"{}\"}} {:.3f}\n", node, seconds);
    text += "# HELP roof_health_ratio a rate to the median of the reference\n# TYPE roof_health_ratio gauge\n";
    for (const HealthRate& rate : finding.rates)
        text += fmt::format("roof_health_ratio{{node=\"{}\",ceiling=\"{}\"}} {:.4f}\n", node, label(rate.ceiling),
                            rate.ratio);
    return text;
}

nlohmann::json health_json(const HealthFinding& finding, double seconds)
{
    nlohmann::json low = nlohmann::json::array();
    for (const NodeCeiling& one : finding.low)
        low.push_back({{"ceiling", json_text(one.ceiling)},
                       {"finding", name(one.finding)},
                       {"ratio", json_number(one.ratio)},
                       {"low", json_number(one.low)},
                       {"high", json_number(one.high)}});
    nlohmann::json rates = nlohmann::json::array();
    for (const HealthRate& rate : finding.rates)
        rates.push_back({{"ceiling", json_text(rate.ceiling)}, {"ratio", json_number(rate.ratio)}});
    return {{"node", json_text(finding.node)},
            {"finding", name(finding.finding)},
            {"line", json_text(health_line(finding))},
            {"status", status_of(finding)},
            {"nodes", finding.nodes},
            {"low", low},
            {"rates", rates},
            {"seconds", json_number(seconds)}};
}

std::string health_prolog(const std::string& command, int seconds)
{
    constexpr int to_end = 5;
    return fmt::format(R"(#!/bin/sh
# A Slurm prolog: drains a node that `roof health` finds slow, before a job runs on it. In slurm.conf:
#   Prolog=/etc/slurm/roof-prolog
#   PrologFlags=Alloc
#   PrologEpilogTimeout={}
# A node that could not be judged (exit status 2) gets its job; the line says why.
said=$(timeout -k 2 {} {} --node "$SLURMD_NODENAME" 2>&1)
status=$?
command -v logger > /dev/null && logger -t roof-health -- "$said"
[ "$status" -eq 1 ] || exit 0
# Slurm drains the node by the prolog's exit status, too; this gives the reason.
scontrol update "nodename=$SLURMD_NODENAME" state=drain "reason=roof health: $said"
exit 1
)",
                       seconds + 2 * to_end, seconds + to_end, command);
}

}  // namespace roof::analysis
