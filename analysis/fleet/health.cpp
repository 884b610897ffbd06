#include "analysis/fleet/health.hpp"

#include "analysis/table/quantities.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/estimate.hpp"
#include "ert/base/files.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

extern "C" const char roof_slurm_prolog_begin[], roof_slurm_prolog_end[];  // slurm_prolog.sh

namespace roof::analysis {
namespace {

namespace fs = std::filesystem;

constexpr double far_rate = 0.1;
constexpr double far_mean = 0.05;
constexpr double far_in_deviations = 5;
constexpr std::size_t fewest_with_scatter = 5;  ///< other nodes

/// How many of what a kind has: "epyc-26cpu, 8 x H100" -> {"epyc-cpu": 26, " x H100": 8}.
std::map<std::string, int> parts_of(const std::string& kind)
{
    constexpr std::string_view digits = "0123456789", times = " x ", processors = "cpu";
    std::map<std::string, int> parts;
    for (const std::string& word : split(kind, ',')) {
        std::string part(trim(word));
        std::size_t begin = 0, end = part.find_first_not_of(digits);
        if (end == std::string::npos || part.compare(end, times.size(), times) != 0) {
            end = part.ends_with(processors) ? part.size() - processors.size() : 0;
            begin = end == 0 ? 0 : part.find_last_not_of(digits, end - 1) + 1;
        }
        const auto number = parse_number<int>(part.substr(begin, end - begin));
        parts[part.erase(begin, end - begin)] = number.value_or(1);
    }
    return parts;
}

/// Whether `less` has the same parts as `more`, but fewer of them.
bool has_lost(const std::string& less, const std::string& more)
{
    const auto few = parts_of(less), many = parts_of(more);
    return few != many && !less.empty() && std::ranges::all_of(few, [&](const auto& part) {
               return many.contains(part.first) && part.second <= many.at(part.first);
           });
}

/// ln of the other nodes' newest rates of one ceiling.
using Others = std::map<std::string, double>;

/// By ceiling; lower bounds only where few nodes have a rate. `digests`: of one kind, ordered by time.
std::map<std::string, Others> rates_of(const std::vector<const Digest*>& digests)
{
    std::map<std::string, Others> rates, all;
    for (const Digest* digest : digests)
        for (const DigestRate& rate : digest->ceilings) {
            all[rate.name][digest->node] = std::log(rate.value);
            if (rate.is_lower_bound())
                rates[rate.name].erase(digest->node);
            else
                rates[rate.name][digest->node] = std::log(rate.value);
        }
    for (auto& [name, others] : all)
        if (rates[name].size() < fewest_with_scatter) rates[name] = std::move(others);
    return rates;
}

double median_of(const Others& others)
{
    std::vector<double> values;
    for (const auto& [node, x] : others) values.push_back(x);
    return spread_of(values).median;
}

/// Whether `high`, the upper end of an interval, is lower than the others by the share `far` and beyond their scatter.
bool is_slow(double high, const Others& others, double far)
{
    constexpr double of_normal = 1.4826;
    const double median = median_of(others);
    Others distances = others;
    for (auto& [node, x] : distances) x = std::fabs(x - median);
    const double deviation = others.size() < fewest_with_scatter ? 0 : of_normal * median_of(distances);
    return high < median - std::max(-std::log1p(-far), far_in_deviations * deviation);
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
    for (const DigestRate& rate : now.ceilings) {
        const auto found = rates.find(rate.name);
        if (found == rates.end()) continue;
        const double middle = median_of(found->second), median = std::exp(middle);
        const double high = rate.is_lower_bound() ? rate.value : rate.high;
        finding.rates.push_back({{rate.value / median, rate.low / median, high / median}, rate.name});
        if (is_slow(std::log(high), found->second, far_rate)) finding.low.push_back(finding.rates.back());
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
        const double ratio = std::exp(x - median_of(others));
        if (is_slow(x, others, far_mean))
            finding.low.push_back({{ratio, ratio, ratio}, fmt::format("{}, mean of {}", kind, mean.count)});
    }
    if (!finding.low.empty()) finding.finding = Finding::slow;
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
    std::vector<const Digest*> same;
    std::set<std::string> nodes, kinds;
    for (const Digest& digest : reference.digests) {
        if (digest.node == now.node || digest.ceilings.empty()) continue;
        if (digest.kind != now.kind) {
            kinds.insert(digest.kind);
            continue;
        }
        same.push_back(&digest);
        nodes.insert(digest.node);
    }
    if (same.empty() && !kinds.empty()) return compare_kinds(now.kind, kinds, finding);
    const std::size_t before = finding.rates.size();
    judge_rates(now, rates_of(same), finding);
    finding.nodes = std::max(finding.nodes, nodes.size());
    if (finding.rates.size() > before) return;
    finding.finding = std::max(finding.finding, Finding::not_judged);
    finding.reason = "the reference has no other node with any of what was measured";
}

std::optional<Digest> digest_in(const fs::path& folder)
{
    const fs::path file = folder / digest_file;
    std::error_code none;
    if (!fs::is_regular_file(fs::symlink_status(file, none))) return std::nullopt;
    try {
        return parse_digest(read_file(file, largest_digest), digest_file);
    } catch (const Error&) {
        return std::nullopt;
    }
}

void search(const fs::path& place, int level, std::size_t& left, std::vector<Digest>& digests)
{
    constexpr int most_levels = 6;
    if (std::optional<Digest> digest = digest_in(place)) digests.push_back(std::move(*digest));
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
        if (left-- == 0) throw InputError("a fleet has at most 1,000,000 files and folders");
        std::error_code none;
        if (level < most_levels && fs::is_directory(entry.symlink_status(none)))
            search(entry.path(), level + 1, left, digests);
    }
}

}  // namespace

Fleet read_fleet(const fs::path& place, std::size_t most_entries)
{
    Fleet fleet;
    if (fs::is_directory(place))
        search(place, 0, most_entries, fleet.digests);
    else if (fs::is_regular_file(place))
        fleet.digests.push_back(parse_digest(read_file(place, largest_digest), place.string()));
    else
        throw InputError("--reference: there is no digest and no folder " + place.string());
    std::ranges::sort(fleet.digests, {}, [](const Digest& d) { return std::tie(d.node, d.time); });
    return fleet;
}

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
    std::ranges::stable_sort(finding.low, {}, &HealthRate::median);
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
        parts.push_back(fmt::format("{} at {:.3f}", finding.low[k].ceiling, finding.low[k].median));
    if (finding.low.size() > most_listed) parts.push_back(fmt::format("and {} more", finding.low.size() - most_listed));
    text += parts.empty() ? ": " + how_many(finding.rates.size(), "rate") : ": " + join(parts, ", ");
    if (finding.nodes > 0) text += "; to " + how_many(finding.nodes, "node");
    return printable(text);
}

std::string health_metrics(const HealthFinding& finding, double seconds)
{
    const std::string node = label_text(finding.node);
    std::string text =
        "# HELP roof_health 0: fine; 1: something is slow or changed; 2: not judged\n# TYPE roof_health gauge\n";
    text +=
        fmt::format("roof_health{{node=\"{}\",state=\"{}\"}} {}\n", node, name(finding.finding), status_of(finding));
    text += "# HELP roof_health_seconds what measuring and judging took\n# TYPE roof_health_seconds gauge\n";
    text += fmt::format("roof_health_seconds{{node=\"{}\"}} {:.3f}\n", node, seconds);
    text += "# HELP roof_health_ratio a rate to the median of the reference\n# TYPE roof_health_ratio gauge\n";
    for (const HealthRate& rate : finding.rates)
        text += fmt::format("roof_health_ratio{{node=\"{}\",ceiling=\"{}\"}} {:.4f}\n", node, label_text(rate.ceiling),
                            rate.median);
    return text;
}

nlohmann::json health_json(const HealthFinding& finding, double seconds)
{
    const auto slow = [](const HealthRate& one) -> nlohmann::json {
        return {{"ceiling", json_text(one.ceiling)},
                {"finding", name(Finding::slow)},
                {"ratio", json_number(one.median)},
                {"low", json_number(one.low)},
                {"high", json_number(one.high)}};
    };
    const auto any = [](const HealthRate& rate) -> nlohmann::json {
        return {{"ceiling", json_text(rate.ceiling)}, {"ratio", json_number(rate.median)}};
    };
    return {{"node", json_text(finding.node)},
            {"finding", name(finding.finding)},
            {"line", json_text(health_line(finding))},
            {"status", status_of(finding)},
            {"nodes", finding.nodes},
            {"low", mapped(finding.low, slow)},
            {"rates", mapped(finding.rates, any)},
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
