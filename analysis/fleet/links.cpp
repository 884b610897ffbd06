#include "analysis/fleet/links.hpp"

#include "analysis/fleet/quantities.hpp"
#include "analysis/table/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace roof::analysis {
namespace {

struct FleetLink {
    std::size_t a = 0;
    std::size_t b = 0;
    LogRate rate{};
    double rest = 0;    ///< beyond the median and its nodes, which are fitted without it
    double spread = 1;  ///< standard deviation of `rest` over that of a link
};

/// A name such as "n17 n18".
std::pair<std::string, std::string> ends_of(const DigestRate& link)
{
    const std::string& name = link.name();
    const std::size_t blank = name.find(' ');
    return std::minmax(name.substr(0, blank), name.substr(blank + 1));
}

/// Relative; at least what matters.
double visible_in(const RateGroup& group)
{
    return -std::expm1(std::min(group.visible(error_chance / static_cast<double>(group.size())), material_log()));
}

class LinkJudge {
  public:
    LinkJudge(const std::vector<const Digest*>& digests, const std::vector<ExpectedNode>& expected)
    {
        read(digests);
        of_node_.resize(names_.size());
        for (std::size_t k = 0; k < links_.size(); ++k)
            for (const std::size_t node : {links_[k].a, links_[k].b}) of_node_[node].push_back(k);
        facts_.resize(names_.size());
        for (const ExpectedNode& node : expected)
            if (const auto at = std::ranges::lower_bound(names_, node.node); at != names_.end() && *at == node.node)
                facts_[static_cast<std::size_t>(at - names_.begin())] = node.facts;
    }

    LinkFindings judge()
    {
        LinkFindings findings{.nodes = names_.size(), .links = links_.size()};
        if (links_.empty()) return findings;
        fit();
        findings.median = std::exp(median_);
        if (names_.size() < fewest_compared || links_.size() < 2 * names_.size()) {
            findings.note = fmt::format("too few to tell nodes from links: {} of {}", how_many(links_.size(), "link"),
                                        how_many(names_.size(), "node"));
            return findings;
        }
        find_slow_nodes(findings);
        find_slow_links(findings);
        std::ranges::stable_sort(findings.slow, {}, &SlowLinks::ratio);
        return findings;
    }

  private:
    void read(const std::vector<const Digest*>& digests)
    {
        std::map<std::pair<std::string, std::string>, std::vector<LogRate>> measured;
        std::set<std::string> names;
        for (const Digest* digest : digests) {
            for (const DigestRate& link : digest->links) {
                if (link.is_lower_bound()) continue;
                const auto ends = ends_of(link);
                measured[ends].push_back(log_rate(link));
                names.insert({ends.first, ends.second});
            }
        }
        names_.assign(names.begin(), names.end());
        const auto place = [&](const std::string& name) {
            return static_cast<std::size_t>(std::ranges::lower_bound(names_, name) - names_.begin());
        };
        for (const auto& [ends, rates] : measured) {
            FleetLink& link = links_.emplace_back(FleetLink{place(ends.first), place(ends.second)});
            const auto count = static_cast<double>(rates.size());
            for (const LogRate& rate : rates) {
                link.rate.x += rate.x / count;
                link.rate.variance += rate.variance / (count * count);
            }
        }
    }

    double rest_of(const FleetLink& link) const { return link.rate.x - median_ - effects_[link.a] - effects_[link.b]; }

    /// Medians first; then means without the links that are far off (bisquare), which use what the others tell.
    void fit()
    {
        constexpr int sweeps = 30;
        std::vector<double> rates;
        for (const FleetLink& link : links_) rates.push_back(link.rate.x);
        median_ = median_of(rates);
        effects_.assign(names_.size(), 0);
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            sweep_over([&](const std::vector<double>& own) { return median_of(own); });
        }
        constexpr double far = 12;  // standard deviations of the first fit, which are small where nodes have few links
        const double reach = far * std::sqrt(std::max(1e-10, variance_of_rests()));
        const auto weight = [&](double rest) {
            const double share = std::min(1.0, std::fabs(rest) / reach);
            return (1 - share * share) * (1 - share * share);
        };
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            sweep_over([&](const std::vector<double>& own) {
                double sum = 0;
                double weights = 0;
                for (const double rest : own) {
                    sum += weight(rest) * rest;
                    weights += weight(rest);
                }
                return weights > 0 ? sum / weights : median_of(own);
            });
        }
        for (FleetLink& link : links_) {
            const auto links_of = [&](std::size_t node) { return static_cast<double>(of_node_[node].size()); };
            const double leverage = std::min(0.9, 1 / links_of(link.a) + 1 / links_of(link.b));
            link.rest = rest_of(link);
            link.rest /= 1 - weight(link.rest) * leverage;
            link.spread = 1 / std::sqrt(1 - leverage);
        }
    }

    template <class Middle>
    void sweep_over(Middle middle)
    {
        for (std::size_t node = 0; node < names_.size(); ++node) {
            std::vector<double> own;
            for (const std::size_t k : of_node_[node]) own.push_back(rest_of(links_[k]));
            effects_[node] += middle(own);
        }
        const double usual = median_of(effects_);
        for (double& effect : effects_) effect -= usual;
        median_ += 2 * usual;
    }

    double variance_of_rests() const
    {
        std::vector<double> rests;
        for (const FleetLink& link : links_) rests.push_back(rest_of(link));
        return SortedRates(std::move(rests)).median_and_variance(no_place).second;
    }

    /// The chances of nodes whose links are slow, by Holm's list or as the slower of two populations; none for the others.
    std::vector<std::optional<double>> slow_nodes(LinkFindings& findings) const
    {
        const double variance = variance_of_rests();
        std::vector<LogRate> nodes;
        for (std::size_t i = 0; i < names_.size(); ++i)
            nodes.push_back({effects_[i], variance / static_cast<double>(of_node_[i].size())});
        const RateGroup group(nodes);
        std::vector<double> chances;
        for (std::size_t i = 0; i < nodes.size(); ++i) chances.push_back(group.chance_as_low(nodes[i], i));
        std::vector<bool> slow = holm(chances, chances.size());
        findings.visible_node = visible_in(group);
        const std::size_t lower = group.upper_population(error_chance).value_or(0);
        for (std::size_t k = 0; k < lower; ++k) slow[group.order()[k]] = true;
        std::vector<std::optional<double>> result(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (slow[i] && effects_[i] < material_log()) result[i] = chances[i];
        return result;
    }

    /// Which slow nodes are slow for one reason: they have a fact in common and all nodes with it are slow, or a link between them is as
    /// fast as others. Equal numbers: one reason.
    std::vector<std::size_t> reasons(const std::vector<std::optional<double>>& slow) const
    {
        std::vector<std::size_t> reason(names_.size());
        std::iota(reason.begin(), reason.end(), std::size_t{0});
        const auto join = [&](std::size_t a, std::size_t b) {
            const std::size_t from = reason[b];
            std::ranges::replace(reason, from, reason[a]);
        };
        for (const FleetLink& link : links_)
            if (slow[link.a] && slow[link.b] && link.rate.x >= median_ + material_log()) join(link.a, link.b);
        std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> with;
        for (std::size_t i = 0; i < facts_.size(); ++i)
            for (const auto& fact : facts_[i]) with[fact].push_back(i);
        for (const auto& [fact, nodes] : with)
            if (nodes.size() >= 3 && std::ranges::all_of(nodes, [&](std::size_t i) { return slow[i].has_value(); }))
                for (const std::size_t i : nodes) join(nodes.front(), i);
        return reason;
    }

    void find_slow_nodes(LinkFindings& findings)
    {
        const std::vector<std::optional<double>> slow = slow_nodes(findings);
        const std::vector<std::size_t> reason = reasons(slow);
        std::map<std::size_t, std::vector<std::size_t>> parts;
        for (std::size_t node = 0; node < names_.size(); ++node)
            if (slow[node]) parts[reason[node]].push_back(node);
        for (const auto& [number, nodes] : parts) findings.slow.push_back(slow_part(nodes, slow, parts.size() == 1));
    }

    SlowLinks slow_part(const std::vector<std::size_t>& nodes, const std::vector<std::optional<double>>& slow,
                        bool is_only)
    {
        SlowLinks found{.fault = nodes.size() > 1 ? LinkFault::uplink : LinkFault::node};
        const std::set<std::size_t> part(nodes.begin(), nodes.end());
        std::vector<double> outside;
        std::vector<double> inside;
        bool has_other = is_only;  // a link to another slow node shows that they are not slow for one reason
        for (FleetLink& link : links_) {
            const bool has_a = part.contains(link.a);
            if (has_a && part.contains(link.b)) {
                inside.push_back(link.rate.x - median_);
                link.rest = inside.back();
            } else if (has_a || part.contains(link.b)) {
                const std::size_t other = has_a ? link.b : link.a;
                has_other = has_other || slow[other];
                outside.push_back(link.rate.x - median_ - (slow[other] ? effects_[other] : 0));
            }
        }
        for (const std::size_t node : nodes) {
            found.nodes.push_back(names_[node]);
            found.chance = std::min(found.chance, *slow[node]);
        }
        found.links = outside.size();
        found.ratio = std::exp(median_of(std::move(outside)));
        found.shared = shared_fact(nodes);
        if (nodes.size() > 1)
            found.remark = inside.empty()                       ? "no link among them was measured"
                           : median_of(inside) < material_log() ? "the links among them are slow too"
                                                                : "the links among them are fast";
        else if (!has_other)
            found.remark = "or a switch: no link to another slow node was measured";
        return found;
    }

    /// Links that are slow beyond their nodes, and, if the links form two populations, the nodes between which they are slow.
    void find_slow_links(LinkFindings& findings)
    {
        std::vector<LogRate> rests;
        for (const FleetLink& link : links_) rests.push_back({link.rest / link.spread, 0});
        const RateGroup group(rests);
        findings.scatter = group.scatter();
        findings.visible_link = visible_in(group);
        if (const auto upper = group.upper_population(error_chance); upper && findings.slow.empty()) {
            find_halves(group, *upper, findings);
            return;
        }
        std::vector<double> chances;
        for (std::size_t k = 0; k < rests.size(); ++k) chances.push_back(group.chance_as_low(rests[k], k));
        const std::vector<bool> slow = holm(chances, chances.size());
        for (std::size_t k = 0; k < rests.size(); ++k)
            if (slow[k] && links_[k].rest < material_log())
                findings.slow.push_back({LinkFault::link,
                                         {names_[links_[k].a], names_[links_[k].b]},
                                         std::exp(links_[k].rest),
                                         1,
                                         chances[k],
                                         shared_fact({links_[k].a, links_[k].b}),
                                         ""});
    }

    /// So many links are slow that no node stands out: the fast ones divide the nodes.
    void find_halves(const RateGroup& group, std::size_t upper, LinkFindings& findings)
    {
        std::vector<std::size_t> part(names_.size());
        std::iota(part.begin(), part.end(), std::size_t{0});
        for (std::size_t k = upper; k < links_.size(); ++k) {
            const FleetLink& link = links_[group.order()[k]];
            const std::size_t from = part[link.b];
            std::ranges::replace(part, from, part[link.a]);
        }
        std::vector<double> slow;
        std::vector<double> fast;
        for (std::size_t k = 0; k < links_.size(); ++k)
            (k < upper ? slow : fast).push_back(links_[group.order()[k]].rate.x);
        const std::set<std::size_t> parts(part.begin(), part.end());
        const double ratio = std::exp(median_of(slow) - median_of(fast));
        if (parts.size() == 1) {
            findings.slow.push_back(
                {LinkFault::link, {}, ratio, upper, 1, "", "two populations of links, which divide no nodes"});
            return;
        }
        for (const std::size_t one : parts) {
            if (parts.size() == 2 && one == *parts.rbegin()) break;  // the same links
            std::vector<std::size_t> nodes;
            for (std::size_t i = 0; i < part.size(); ++i)
                if (part[i] == one) nodes.push_back(i);
            SlowLinks found{LinkFault::uplink, {}, ratio, 0, 1, shared_fact(nodes), "the links among them are fast"};
            for (const std::size_t i : nodes) found.nodes.push_back(names_[i]);
            found.links = static_cast<std::size_t>(std::ranges::count_if(
                links_, [&](const FleetLink& l) { return (part[l.a] == one) != (part[l.b] == one); }));
            findings.slow.push_back(std::move(found));
        }
    }

    std::string shared_fact(const std::vector<std::size_t>& nodes) const
    {
        for (const auto& [fact, value] : facts_[nodes.front()]) {
            const auto has_it = [&](const std::map<std::string, std::string>& facts) {
                const auto found = facts.find(fact);
                return found != facts.end() && found->second == value;
            };
            const bool all = std::ranges::all_of(nodes, [&](std::size_t i) { return has_it(facts_[i]); });
            const auto with_it = static_cast<std::size_t>(std::ranges::count_if(facts_, has_it));
            if (all && with_it == nodes.size() && with_it > 1) return fact + "=" + value;
        }
        return "";
    }

    std::vector<std::string> names_{};
    std::vector<FleetLink> links_{};
    std::vector<std::vector<std::size_t>> of_node_{};
    std::vector<std::map<std::string, std::string>> facts_{};
    double median_ = 0;
    std::vector<double> effects_{};
};

}  // namespace

std::vector<LinkFindings> judge_links(const Fleet& fleet)
{
    std::map<std::pair<std::string, std::string>, std::vector<const Digest*>> groups;
    for (const Digest& digest : fleet.digests)
        if (!digest.links.empty()) groups[{digest.plan, digest.revision}].push_back(&digest);
    std::vector<LinkFindings> findings;
    for (const auto& [key, digests] : groups) {
        findings.push_back(LinkJudge(digests, fleet.expected).judge());
        findings.back().plan = key.first;
        findings.back().revision = key.second;
    }
    return findings;
}

}  // namespace roof::analysis
