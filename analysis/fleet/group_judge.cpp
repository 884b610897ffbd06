#include "analysis/fleet/group_judge.hpp"

#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "ert/method/ceilings/estimator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace roof::analysis {
namespace {

/// The difference from day to day is known from this many nodes on this many days each.
constexpr std::size_t nodes_with_days = 10;
constexpr std::size_t days_of_each = 3;

const DigestRate* usable_rate(const Digest& digest, const std::string& name)
{
    const auto found = std::ranges::find(digest.ceilings, name, &DigestRate::name);
    return found == digest.ceilings.end() || found->is_lower_bound() ? nullptr : &*found;
}

std::vector<LogRate> rates_on_days(const Member& member, const std::string& name)
{
    std::vector<LogRate> rates;
    for (const Digest* digest : member.days)
        if (const DigestRate* const rate = usable_rate(*digest, name)) rates.push_back(log_rate(*rate));
    return rates;
}

LogRate mean_of(const std::vector<LogRate>& rates)
{
    LogRate mean;
    for (const LogRate& rate : rates) {
        mean.x += rate.x / static_cast<double>(rates.size());
        mean.variance += rate.variance / static_cast<double>(rates.size());
    }
    return mean;
}

class CeilingJudge {
  public:
    CeilingJudge(const std::vector<Member>& members, CeilingFinding& ceiling, GroupTests& tests)
        : members_(members), ceiling_(ceiling), tests_(tests)
    {
    }

    /// `rates`: of the newest day. `ceilings`: how many the group has.
    void judge(const std::vector<Entry>& rates, std::size_t ceilings)
    {
        std::vector<Entry> usable;
        for (const Entry& entry : rates)
            if (!entry.rate->is_lower_bound()) usable.push_back(entry);
        ceiling_.nodes = usable.size();
        if (usable.empty()) return;
        find_day_variance();
        for (Entry& entry : usable) set(entry, {log_rate(*entry.rate)});
        const RateGroup all(log_rates(usable));
        ceiling_.median = std::exp(all.median());
        ceiling_.scatter = all.scatter();
        for (const Entry& entry : rates)
            if (entry.rate->is_lower_bound()) add_bound(entry, all.median());
        if (usable.size() < fewest_compared) {
            for (const Entry& entry : usable)
                add(entry, Finding::undecided, all.median(),
                    fmt::format("{} nodes are too few to tell", usable.size()));
            return;
        }
        const auto upper = all.upper_population(ceilings);
        const auto part = [&](std::size_t from, std::size_t to) {
            std::vector<Entry> some;
            for (std::size_t k = from; k < to; ++k) some.push_back(usable[all.order()[k]]);
            return some;
        };
        const std::size_t cut = upper.value_or(0);
        if (upper)
            for (const auto& some : {part(0, cut), part(cut, usable.size())}) add_population(some);
        const bool is_split = cut >= fewest_compared && usable.size() - cut >= fewest_compared;
        if (is_split) compare(part(0, cut));
        compare(part(is_split ? cut : 0, usable.size()));
    }

  private:
    static std::vector<LogRate> log_rates(const std::vector<Entry>& entries)
    {
        std::vector<LogRate> rates;
        rates.reserve(entries.size());
        for (const Entry& entry : entries) rates.push_back({entry.x, entry.variance});
        return rates;
    }

    void find_day_variance()
    {
        std::vector<double> deviations;
        std::size_t nodes = 0;
        for (const Member& member : members_) {
            if (member.days.size() < 2) continue;
            const std::vector<LogRate> rates = rates_on_days(member, ceiling_.name);
            if (rates.size() < 2) continue;
            nodes += rates.size() >= days_of_each;
            const auto days = static_cast<double>(rates.size());
            const double mean = mean_of(rates).x;
            for (const LogRate& rate : rates) deviations.push_back((rate.x - mean) * std::sqrt(days / (days - 1)));
        }
        if (nodes < nodes_with_days) return;
        day_variance_ = SortedRates(std::move(deviations)).median_and_variance(no_place).second;
        ceiling_.day_to_day = std::sqrt(*day_variance_);
    }

    /// `rates`: those of the entry's days. The difference from day to day widens the interval where it is known.
    void set(Entry& entry, const std::vector<LogRate>& rates) const
    {
        const LogRate mean = mean_of(rates);
        entry.days = rates.size();
        entry.x = mean.x;
        entry.variance = std::max(mean.variance, day_variance_.value_or(0)) / static_cast<double>(rates.size());
        const int rounds = entry.variance > mean.variance ? 0 : entry.rate->rounds * static_cast<int>(rates.size());
        const double half = half_width_in_errors(rounds) * std::sqrt(entry.variance);
        entry.low = entry.x - half;
        entry.high = entry.x + half;
        if (rates.size() > 1 || entry.variance > mean.variance) return;
        entry.low = std::log(entry.rate->low);
        entry.high = std::log(entry.rate->high);
    }

    void add(const Entry& entry, Finding finding, double median, std::string reason)
    {
        entry.member->finding->ceilings.push_back(
            {ceiling_.name, finding, entry.rate->value * std::exp(-median), entry.rate->low * std::exp(-median),
             entry.rate->high * std::exp(-median), 1, 1, false, std::move(reason)});
    }

    void add_bound(const Entry& entry, double median)
    {
        if (std::log(entry.rate->low) >= median + material_log()) return;
        add(entry, Finding::undecided, median, "the rate is only a lower bound");
    }

    void add_population(const std::vector<Entry>& entries)
    {
        Population& population = ceiling_.populations.emplace_back();
        population.median = std::exp(RateGroup(log_rates(entries)).median());
        for (const Entry& entry : entries) population.nodes.push_back(entry.member->newest().node);
        std::ranges::sort(population.nodes);
    }

    void compare(const std::vector<Entry>& entries)
    {
        compare_newest(entries);
        compare_means(entries);
    }

    void compare_newest(const std::vector<Entry>& entries)
    {
        std::vector<double> specs;
        for (const Entry& entry : entries)
            if (entry.rate->spec > 0) specs.push_back(entry.rate->spec);
        const double spec = median_of(std::move(specs));
        const auto rates = std::make_shared<const RateGroup>(log_rates(entries));
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Entry& entry = entries[i];
            const double median = rates->median_without(i);
            const bool is_above_spec = spec > 0 && entry.rate->low > max_share_of_spec * spec;
            if (is_above_spec && rates->chance_as_low({2 * median - entry.x, entry.variance}, i) <
                                     error_chance / static_cast<double>(entries.size())) {
                ++tests_.count;
                add(entry, Finding::implausible, median, "above the spec that the others' digests state");
                continue;
            }
            test(entry, rates, i);
        }
    }

    /// The means over days, of the nodes that have as many days as most or more.
    void compare_means(std::vector<Entry> entries)
    {
        std::vector<double> days;
        for (Entry& entry : entries) {
            if (entry.member->days.size() > 1) set(entry, rates_on_days(*entry.member, ceiling_.name));
            days.push_back(static_cast<double>(entry.days));
        }
        const double usual = std::max(2.0, median_of(days));
        if (std::ranges::max(days) < 2) return;
        const auto means = std::make_shared<const RateGroup>(log_rates(entries));
        for (std::size_t i = 0; i < entries.size(); ++i)
            if (days[i] >= usual) test(entries[i], means, i);
    }

    void test(const Entry& entry, const std::shared_ptr<const RateGroup>& rates, std::size_t i)
    {
        ++tests_.count;
        if (entry.low >= rates->median_without(i) + material_log()) return;
        const double chance_of_low = rates->chance_as_low({entry.low, 0}, i);
        if (chance_of_low < 1)
            tests_.low.push_back(
                {entry, &ceiling_, rates, i, rates->chance_as_low({entry.x, entry.variance}, i), chance_of_low});
    }

    const std::vector<Member>& members_;
    CeilingFinding& ceiling_;
    GroupTests& tests_;
    std::optional<double> day_variance_{};
};

void mark_missing(const std::string& name, const std::vector<Entry>& entries, std::vector<Member>& members)
{
    std::set<const Member*> present;
    for (const Entry& entry : entries) present.insert(entry.member);
    for (Member& member : members)
        if (!present.contains(&member))
            member.finding->ceilings.push_back(
                {name, Finding::missing, 0, 0, 0, 1, 1, false, "the node's digest lacks it"});
}

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

const DigestRate* rate_on_another_day(const Member& member, const std::string& ceiling)
{
    return member.days.size() < 2 ? nullptr : usable_rate(*member.days[member.days.size() - 2], ceiling);
}

void compare_nodes(FleetGroup& group, std::vector<Member>& members, GroupTests& tests)
{
    std::map<std::string_view, std::vector<Entry>> by_name;
    for (Member& member : members)
        for (const DigestRate& rate : member.newest().ceilings) by_name[rate.name].push_back({&member, &rate});
    group.ceilings.reserve(by_name.size());  // the tests point to them
    for (const auto& [name, entries] : by_name) {
        if (2 * entries.size() < members.size()) continue;  // most nodes have no such ceiling
        CeilingFinding& ceiling = group.ceilings.emplace_back();
        ceiling.name = name;
        ceiling.unit = entries.front().rate->unit;
        CeilingJudge(members, ceiling, tests).judge(entries, by_name.size());
        if (entries.size() < members.size()) mark_missing(ceiling.name, entries, members);
    }
}

}  // namespace roof::analysis
