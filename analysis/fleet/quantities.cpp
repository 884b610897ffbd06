#include "analysis/fleet/quantities.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/estimator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace roof::analysis {
namespace {

/// A smaller difference of all rates of a kind matters too.
constexpr double material_mean = 0.015;

std::vector<LogRate> days_of(const Member& member, const std::string& name)
{
    std::vector<LogRate> rates;
    for (const Digest* digest : member.days)
        if (const DigestRate* const rate = digest->find(name); rate != nullptr && !rate->is_lower_bound())
            rates.push_back(log_rate(*rate));
    return rates;
}

/// The weighted mean of members' differences from the medians, day by day.
class Mean {
  public:
    Mean(const std::vector<const NodeQuantity*>& ceilings, const std::vector<const RateGroup*>& groups,
         std::size_t members)
        : ceilings_(ceilings), groups_(groups), place_(ceilings.size(), std::vector<std::uint32_t>(members, absent))
    {
        for (std::size_t c = 0; c < ceilings.size(); ++c) {
            for (std::uint32_t k = 0; k < ceilings[c]->members.size(); ++k) place_[c][ceilings[c]->members[k]] = k;
            weights_.push_back(1 / groups[c]->variance());
            all_ += weights_.back();
        }
    }

    NodeQuantity joined(std::string name, std::size_t members) const
    {
        NodeQuantity mean{.name = std::move(name), .joined = ceilings_.size(), .material = std::log1p(-material_mean)};
        const bool has_days = std::ranges::any_of(ceilings_, [](const NodeQuantity* c) { return !c->days.empty(); });
        for (std::uint32_t i = 0; i < members; ++i) {
            std::size_t days = 1;
            if (has_days) days = number_of_days(i);
            std::vector<LogRate> of_days;
            for (std::size_t back = days; back-- > 0;)
                if (const LogRate rate = of(i, back); std::isfinite(rate.x)) of_days.push_back(rate);
            if (of_days.empty() || !std::isfinite(of(i, 0).x)) continue;
            mean.members.push_back(i);
            mean.newest.push_back(of_days.back());
            if (has_days) mean.days.push_back(std::move(of_days));
        }
        return mean;
    }

  private:
    static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

    /// Of most of the ceilings.
    std::size_t number_of_days(std::uint32_t i) const
    {
        std::vector<double> days;
        for (std::size_t c = 0; c < ceilings_.size(); ++c)
            if (place_[c][i] != absent)
                days.push_back(
                    ceilings_[c]->days.empty() ? 1.0 : static_cast<double>(ceilings_[c]->days[place_[c][i]].size()));
        return static_cast<std::size_t>(median_of(std::move(days)));
    }

    /// Not finite where the member has less than half of the weight. `back`: days before the newest.
    LogRate of(std::uint32_t i, std::size_t back) const
    {
        LogRate rate;
        double weight = 0;
        for (std::size_t c = 0; c < ceilings_.size(); ++c) {
            const std::uint32_t k = place_[c][i];
            if (k == absent) continue;
            const auto& days = ceilings_[c]->days;
            if (back > 0 && (days.empty() || days[k].size() <= back)) continue;
            const LogRate& one = back == 0 ? groups_[c]->rate(k) : days[k][days[k].size() - 1 - back];
            rate.x += weights_[c] * (one.x - groups_[c]->median());
            rate.variance += weights_[c] * weights_[c] * one.variance;
            weight += weights_[c];
        }
        constexpr double half = 0.5;
        if (weight < half * all_) return {std::numeric_limits<double>::quiet_NaN(), 0};
        return {rate.x / weight, rate.variance / (weight * weight) + 1 / weight - 1 / all_};
    }

    const std::vector<const NodeQuantity*>& ceilings_;
    const std::vector<const RateGroup*>& groups_;
    std::vector<std::vector<std::uint32_t>> place_;  ///< of each member in each ceiling
    std::vector<double> weights_{};
    double all_ = 0;
};

}  // namespace

LogRate log_rate(const DigestRate& rate)
{
    const double s = (std::log(rate.high) - std::log(rate.low)) / (2 * half_width_in_errors(rate.rounds));
    return {std::log(rate.value), s * s};
}

double material_log()
{
    static const double value = std::log1p(-material);
    return value;
}

std::vector<NodeQuantity> ceilings_of(const std::vector<Member>& members)
{
    std::map<std::string_view, std::vector<MemberRate>> by_name;
    bool has_days = false;
    std::vector<std::pair<std::string_view, std::vector<MemberRate>*>>
        before;  // of the last digest: most have one order
    for (std::uint32_t i = 0; i < members.size(); ++i) {
        has_days = has_days || members[i].days.size() > 1;
        std::size_t place = 0;
        for (const DigestRate& rate : members[i].newest().ceilings) {
            if (place == before.size()) before.emplace_back();
            auto& [name, rates] = before[place++];
            if (rates == nullptr || name != rate.name()) {
                rates = &by_name[rate.name()];
                name = rate.name();
            }
            rates->push_back({i, &rate});
        }
    }
    std::vector<NodeQuantity> quantities;
    for (auto& [name, found] : by_name) {
        if (2 * found.size() < members.size()) continue;  // most nodes have no such ceiling
        NodeQuantity& quantity = quantities.emplace_back();
        quantity.name = name;
        quantity.unit = found.front().rate->unit();
        quantity.material = material_log();
        std::uint32_t next = 0;
        quantity.members.reserve(found.size());
        quantity.newest.reserve(found.size());
        quantity.rates.reserve(found.size());
        for (const MemberRate& one : found) {
            for (; next < one.member; ++next) quantity.without.push_back(next);
            next = one.member + 1;
            if (one.rate->is_lower_bound()) {
                quantity.bounds.push_back(one);
                continue;
            }
            quantity.members.push_back(one.member);
            quantity.newest.push_back(log_rate(*one.rate));
            quantity.rates.push_back(one.rate);
            if (has_days) quantity.days.push_back(days_of(members[one.member], quantity.name));
        }
        for (; next < members.size(); ++next) quantity.without.push_back(next);
        std::vector<MemberRate>().swap(found);
    }
    return quantities;
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

std::vector<NodeQuantity> means_of(const std::vector<NodeQuantity>& ceilings,
                                   const std::vector<const RateGroup*>& groups, std::size_t members)
{
    std::map<std::string, std::pair<std::vector<const NodeQuantity*>, std::vector<const RateGroup*>>> kinds;
    for (std::size_t c = 0; c < ceilings.size(); ++c) {
        const std::string kind = kind_of_ceiling(ceilings[c].name);
        if (kind.empty() || groups[c] == nullptr) continue;
        kinds[kind].first.push_back(&ceilings[c]);
        kinds[kind].second.push_back(groups[c]);
    }
    std::vector<NodeQuantity> means;
    for (const auto& [kind, of_kind] : kinds)
        if (of_kind.first.size() > 1)
            means.push_back(Mean(of_kind.first, of_kind.second, members)
                                .joined(fmt::format("{}, mean of {}", kind, of_kind.first.size()), members));
    return means;
}

}  // namespace roof::analysis
