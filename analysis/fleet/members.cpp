#include "analysis/fleet/members.hpp"

#include "analysis/fleet/robust.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

namespace roof::analysis {
namespace {

constexpr double hour = 3600;
constexpr double day_seconds = 24 * hour;
/// So much later is another day.
constexpr double another_day = 23 * hour;
/// A clock may differ by so much.
constexpr double clock_error = day_seconds;
constexpr double usual_age = 30 * day_seconds;

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

/// Whether two digests of one day cannot be of one machine, or of one that did not change.
bool contradict(const Digest& a, const Digest& b)
{
    for (const char* fact : {"BIOS", "memory", "microcode"}) {
        const auto of_a = a.facts.find(fact);
        const auto of_b = b.facts.find(fact);
        if (of_a != a.facts.end() && of_b != b.facts.end() && of_a->second != of_b->second) return true;
    }
    if (a.kind != b.kind) return true;
    constexpr double far = 0.1;
    std::map<std::string_view, const DigestRate*> rates;
    for (const DigestRate& rate : a.ceilings)
        if (!rate.is_lower_bound()) rates[rate.name()] = &rate;
    std::size_t common = 0;
    std::size_t differ = 0;
    for (const DigestRate& rate : b.ceilings) {
        const auto found = rates.find(rate.name());
        if (found == rates.end() || rate.is_lower_bound()) continue;
        ++common;
        const bool is_apart = rate.high < found->second->low || found->second->high < rate.low;
        differ += is_apart && std::fabs(std::log(rate.value / found->second->value)) > far;
    }
    return 2 * differ > common;
}

std::string short_time(const std::string& time)
{
    constexpr std::size_t to_minutes = 16;
    return printable(time.substr(0, to_minutes));
}

class Sorting {
  public:
    Sorting(const Fleet& fleet, const JudgeOptions& options) : options_(options)
    {
        for (const ExpectedNode& node : fleet.expected) expected_[node.node] = &node;
        const double now = options.now.empty() ? INFINITY : seconds_of(options.now);
        for (const Digest& digest : fleet.digests) {
            if (digest.ceilings.empty()) continue;
            if (seconds_of(digest.time) > now + clock_error)
                remark(digest.node, Finding::future,
                       "a digest is dated " + short_time(digest.time) + ", after today; it is set aside");
            else
                of_node_[{digest.plan, digest.node}].push_back(&digest);
        }
        for (auto& [key, digests] : of_node_)
            std::ranges::stable_sort(digests, {}, [](const Digest* d) { return seconds_of(d->time); });
    }

    Membership sorted()
    {
        set_aside_old();
        for (const auto& [key, digests] : of_node_) add(digests);
        find_changed_kinds();
        for (auto& [node, remark] : remarks_)
            if (!members_.contains(node)) result_.aside.push_back(std::move(remark));
        std::erase_if(remarks_, [&](const auto& remark) { return !members_.contains(remark.first); });
        result_.remarks = std::move(remarks_);
        return std::move(result_);
    }

  private:
    void remark(const std::string& node, Finding finding, std::string reason)
    {
        NodeFinding& remark = remarks_.try_emplace(node, NodeFinding{.node = node}).first->second;
        if (finding < remark.finding) return;
        remark.finding = finding;
        remark.reason = printable(reason);
    }

    void set_aside_old()
    {
        std::map<std::string, std::vector<double>> newest;  // by plan
        for (const auto& [key, digests] : of_node_) newest[key.first].push_back(seconds_of(digests.back()->time));
        std::map<std::string, double> oldest;
        for (auto& [plan, times] : newest)
            oldest[plan] = options_.max_age_hours > 0 && !options_.now.empty()
                               ? seconds_of(options_.now) - options_.max_age_hours * hour
                               : median_of(std::move(times)) - usual_age;
        std::erase_if(of_node_, [&](const auto& entry) {
            const Digest& digest = *entry.second.back();
            if (seconds_of(digest.time) >= oldest.at(entry.first.first)) return false;
            remark(digest.node, Finding::too_old, "its newest digest is of " + short_time(digest.time));
            return true;
        });
    }

    void add(const std::vector<const Digest*>& digests)
    {
        const Digest& newest = *digests.back();
        std::vector<std::string>& kinds = kinds_[{newest.plan, newest.node}];
        Member member;
        for (std::size_t k = digests.size(); k-- > 0;) {
            const Digest& digest = *digests[k];
            if (kinds.empty() || kinds.back() != digest.kind) kinds.push_back(digest.kind);
            const Digest& later = member.days.empty() ? newest : *member.days.back();
            const bool is_other_day = seconds_of(later.time) - seconds_of(digest.time) >= another_day;
            if (!is_other_day && &digest != &newest && &later == &newest && contradict(newest, digest))
                remark(newest.node, Finding::twice,
                       fmt::format("digests of {} and {} contradict each other: two machines of one name, or a change",
                                   short_time(digest.time), short_time(newest.time)));
            if (digest.kind != newest.kind || digest.revision != newest.revision) continue;
            if (member.days.empty() || is_other_day) member.days.push_back(&digest);
        }
        std::ranges::reverse(member.days);
        member.facts = newest.facts;
        if (const auto found = expected_.find(newest.node); found != expected_.end())
            for (const auto& [fact, value] : found->second->facts) member.facts[fact] = value;
        const auto by = member.facts.find(options_.group_by);
        members_.insert(newest.node);
        result_
            .groups[{newest.kind, newest.plan, newest.revision,
                     options_.group_by.empty()  ? ""
                     : by == member.facts.end() ? "unknown"
                                                : by->second}]
            .push_back(std::move(member));
    }

    void find_changed_kinds()
    {
        std::map<std::string, std::map<std::string, std::size_t>> sizes;  // of kinds, by plan
        for (const auto& [key, kinds] : kinds_) ++sizes[key.first][kinds.front()];
        for (const auto& [key, kinds] : kinds_) {
            const auto& [plan, node] = key;
            const auto& of_plan = sizes.at(plan);
            const std::string& now = kinds.front();
            for (std::size_t k = 1; k < kinds.size(); ++k)
                if (has_lost(now, kinds[k])) remark(node, Finding::changed_kind, now + ", and before " + kinds[k]);
            for (const auto& [other, number] : of_plan) {
                const bool was = std::ranges::find(kinds, other) != kinds.end();
                if (other != now && number > of_plan.at(now) && (was || has_lost(now, other)))
                    remark(node, Finding::changed_kind,
                           fmt::format("{}, and {} {} have {}", now, number, number == 1 ? "node" : "nodes", other));
            }
        }
    }

    const JudgeOptions& options_;
    std::map<std::string, const ExpectedNode*> expected_{};
    std::map<std::pair<std::string, std::string>, std::vector<const Digest*>> of_node_{};  ///< by plan and node
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> kinds_{};      ///< the newest first
    std::map<std::string, NodeFinding> remarks_{};
    std::set<std::string> members_{};
    Membership result_{};
};

}  // namespace

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

double seconds_of(const std::string& time)
{
    const std::chrono::sys_days day{day_of(time)};
    double seconds = day_seconds * static_cast<double>(day.time_since_epoch().count());
    constexpr std::size_t places[] = {11, 14, 17};
    double unit = hour;
    for (const std::size_t place : places) {
        if (time.size() < place + 2) break;
        const auto part = parse_number<int>(std::string_view(time).substr(place, 2));
        if (!part || *part < 0 || *part >= 62) break;
        seconds += unit * *part;
        unit /= 60;
    }
    return seconds;
}

Membership members_of(const Fleet& fleet, const JudgeOptions& options)
{
    return Sorting(fleet, options).sorted();
}

}  // namespace roof::analysis
