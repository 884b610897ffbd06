#include "analysis/fleet/health.hpp"

#include "analysis/table/quantities.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

extern "C" const char roof_slurm_prolog_begin[], roof_slurm_prolog_end[];  // slurm_prolog.sh

namespace roof::analysis {
namespace {

constexpr double far_rate = 0.1;
constexpr double far_mean = 0.05;
constexpr double far_in_deviations = 5;
constexpr std::size_t fewest_with_scatter = 5;  ///< other nodes

using Nodes = std::vector<const Digest*>;

/// The group of the reference that `now` belongs to; one of another kind where there is none of its own.
Nodes group_for(const Digest& now, const Fleet& reference)
{
    std::map<std::tuple<std::string, std::string, std::string>, Nodes> groups;
    for (const Digest& digest : reference.digests)
        if (digest.node != now.node && !digest.ceilings.empty())
            groups[{digest.kind, digest.plan, digest.revision}].push_back(&digest);
    std::set<std::string> names;
    for (const DigestRate& rate : now.ceilings) names.insert(rate.name);
    const Nodes* best = nullptr;
    std::tuple<bool, std::size_t, std::size_t> most{};
    for (const auto& [key, nodes] : groups) {
        const auto common = static_cast<std::size_t>(std::ranges::count_if(
            nodes.back()->ceilings, [&](const DigestRate& rate) { return names.contains(rate.name); }));
        const std::tuple worth{std::get<0>(key) == now.kind, common, nodes.size()};
        if (common == 0 || (best != nullptr && worth <= most)) continue;
        best = &nodes;
        most = worth;
    }
    return best == nullptr ? Nodes{} : *best;
}

/// How many of what a kind has: "epyc-26cpu, 8 x H100" -> {"epyc-": 26, "H100": 8}.
std::map<std::string, int> parts_of(const std::string& kind)
{
    std::map<std::string, int> parts;
    bool is_first = true;
    for (const std::string& word : split(kind, ',')) {
        const std::string part(trim(word));
        const std::string_view end = is_first ? "cpu" : "";
        is_first = false;
        if (!end.empty() && part.ends_with(end)) {
            std::size_t begin = part.size() - end.size();
            while (begin > 0 && part[begin - 1] >= '0' && part[begin - 1] <= '9') --begin;
            const auto count =
                parse_number<int>(std::string_view(part).substr(begin, part.size() - end.size() - begin));
            parts[part.substr(0, begin)] = count.value_or(1);
            continue;
        }
        const std::size_t times = part.find(" x ");
        const auto count =
            times == std::string::npos ? std::nullopt : parse_number<int>(std::string_view(part).substr(0, times));
        parts[count ? part.substr(times + 3) : part] = count.value_or(1);
    }
    return parts;
}

/// Whether `less` has the same parts as `more`, but fewer of them.
bool has_lost(const std::string& less, const std::string& more)
{
    const auto few = parts_of(less);
    const auto many = parts_of(more);
    if (few == many || few.begin()->first.empty()) return false;
    return std::ranges::all_of(few, [&](const auto& part) {
        const auto found = many.find(part.first);
        return found != many.end() && part.second <= found->second;
    });
}

double median_of(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return values.size() % 2 == 1 ? *middle : 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

/// ln of the other nodes' newest rates of one ceiling.
using Others = std::map<std::string, double>;

/// By ceiling; lower bounds only where few nodes have a rate.
std::map<std::string, Others> rates_of(const Nodes& nodes)
{
    std::map<std::string, const Digest*> newest;
    for (const Digest* digest : nodes)
        if (const Digest*& one = newest[digest->node]; one == nullptr || one->time <= digest->time) one = digest;
    std::map<std::string, Others> rates, all;
    for (const auto& [node, digest] : newest) {
        for (const DigestRate& rate : digest->ceilings) {
            all[rate.name][node] = std::log(rate.value);
            if (!rate.is_lower_bound()) rates[rate.name][node] = std::log(rate.value);
        }
    }
    for (auto& [name, others] : all)
        if (rates[name].size() < fewest_with_scatter) rates[name] = std::move(others);
    return rates;
}

std::vector<double> values_of(const Others& others)
{
    std::vector<double> values;
    for (const auto& [node, x] : others) values.push_back(x);
    return values;
}

/// Whether `high`, the upper end of an interval, is lower than the others by the share `far` and beyond their scatter.
bool is_slow(double high, const Others& others, double far)
{
    std::vector<double> values = values_of(others);
    const double median = median_of(values);
    if (high >= median + std::log1p(-far)) return false;
    if (values.size() < fewest_with_scatter) return true;
    for (double& x : values) x = std::fabs(x - median);
    constexpr double of_normal = 1.4826;
    return high < median - far_in_deviations * of_normal * median_of(std::move(values));
}

/// The means over the ceilings of a kind, of the node and of the others.
struct KindMean {
    double sum = 0;
    std::size_t count = 0;
    std::map<std::string, std::pair<double, std::size_t>> others{};
};

void judge_rates(const Digest& now, const std::map<std::string, Others>& rates, HealthFinding& finding)
{
    std::map<std::string, KindMean> kinds;
    const auto add = [&](const std::string& name, double ratio, double low, double high) {
        finding.finding = Finding::slow;
        finding.low.push_back({name, ratio, low, high});
    };
    for (const DigestRate& rate : now.ceilings) {
        const auto found = rates.find(rate.name);
        if (found == rates.end()) continue;
        const double middle = median_of(values_of(found->second));
        const double median = std::exp(middle);
        const double high = rate.is_lower_bound() ? rate.value : rate.high;
        finding.rates.push_back({rate.name, rate.value / median, rate.low / median, high / median});
        if (is_slow(std::log(high), found->second, far_rate))
            add(rate.name, rate.value / median, rate.low / median, high / median);
        const std::string kind = kind_of_ceiling(rate.name);
        if (kind.empty()) continue;
        KindMean& mean = kinds[kind];
        mean.sum += std::log(rate.value) - middle;
        ++mean.count;
        for (const auto& [node, x] : found->second) {
            auto& [sum, count] = mean.others[node];
            sum += x - middle;
            ++count;
        }
    }
    for (const auto& [kind, mean] : kinds) {
        if (mean.count < 2) continue;
        Others others;
        for (const auto& [node, one] : mean.others) others[node] = one.first / static_cast<double>(one.second);
        const double x = mean.sum / static_cast<double>(mean.count);
        const double ratio = std::exp(x - median_of(values_of(others)));
        if (is_slow(x, others, far_mean)) add(fmt::format("{}, mean of {}", kind, mean.count), ratio, ratio, ratio);
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
    std::set<std::string> names;
    for (const Digest* digest : nodes) names.insert(digest->node);
    finding.nodes = std::max(finding.nodes, names.size());
    judge_rates(now, rates_of(nodes), finding);
}

}  // namespace

std::string kind_of_ceiling(const std::string& name)
{
    const std::vector<std::string> words = split(name, ' ');
    constexpr std::size_t fewest = 4;  // device, role, level, operation
    if (words.size() < fewest) return {};
    if (words[1] == "compute") return words[0] + " compute";
    if (words[1] == "latency") return words[0] + " latency";
    if (words[1] != "bandwidth") return {};
    switch (level_traits(words[2]).kind) {
        case LevelKind::core:
        case LevelKind::cache:
            return words[0] + " cache";
        case LevelKind::memory:
            return words[0] + " memory";
        case LevelKind::path:
            break;
    }
    return words[0] + " link";
}

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
    std::ranges::stable_sort(finding.low, {}, &HealthRate::ratio);
    return finding;
}

int status_of(const HealthFinding& finding)
{
    return finding.finding >= Finding::changed_kind ? 1 : finding.finding == Finding::fine ? 0 : 2;
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
    for (const HealthRate& one : finding.low)
        low.push_back({{"ceiling", json_text(one.ceiling)},
                       {"finding", name(Finding::slow)},
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
    std::string text(roof_slurm_prolog_begin, roof_slurm_prolog_end);
    for (const auto& [word, value] : {std::pair<std::string, std::string>{"@limit@", std::to_string(seconds + to_end)},
                                      {"@prolog_limit@", std::to_string(seconds + 2 * to_end)},
                                      {"@command@", command}})
        text.replace(text.find(word), word.size(), value);
    return text;
}

}  // namespace roof::analysis
