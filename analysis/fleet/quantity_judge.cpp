#include "analysis/fleet/quantity_judge.hpp"

#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "ert/method/ceilings/estimator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace roof::analysis {
namespace {

/// The difference from day to day is known from this many nodes on this many days each.
constexpr std::size_t nodes_with_days = 10;
constexpr std::size_t days_of_each = 3;
/// Of a node that is slow on some days, the last so many are asked, if there are four.
constexpr std::size_t last_days = 6;
constexpr std::size_t fewest_last_days = 4;

LogRate mean_of(std::span<const LogRate> rates)
{
    LogRate mean;
    for (const LogRate& rate : rates) {
        mean.x += rate.x / static_cast<double>(rates.size());
        mean.variance += rate.variance / static_cast<double>(rates.size());
    }
    return mean;
}

}  // namespace

QuantityJudge::QuantityJudge(NodeQuantity& quantity, CeilingFinding& ceiling, std::vector<Member>& members,
                             GroupTests& tests)
    : quantity_(quantity), ceiling_(ceiling), members_(members), tests_(tests)
{
    ceiling_.name = quantity.name;
    ceiling_.unit = quantity.unit;
    ceiling_.rates = quantity.joined;
    ceiling_.nodes = quantity.members.size();
    find_day_variance();
    std::vector<LogRate> newest = std::exchange(quantity.newest, {});
    for (LogRate& rate : newest) rate.variance = std::max(rate.variance, day_variance_.value_or(0));
    all_ = std::make_shared<const RateGroup>(std::move(newest));
}

void QuantityJudge::divide(double chance)
{
    if (quantity_.members.empty()) return;
    ceiling_.median = std::exp(all_->median());
    ceiling_.scatter = all_->scatter();
    if (all() == nullptr) return;
    const std::size_t cut = all_->upper_population(chance, -quantity_.material).value_or(0);
    const auto part = [&](std::size_t from, std::size_t to) {
        std::vector<std::uint32_t> places(all_->order().begin() + static_cast<std::ptrdiff_t>(from),
                                          all_->order().begin() + static_cast<std::ptrdiff_t>(to));
        std::ranges::sort(places);
        return places;
    };
    if (cut > 0) add_populations(part(0, cut), part(cut, all_->size()));
    const bool is_split = cut >= fewest_compared && all_->size() - cut >= fewest_compared;
    if (is_split) compare(part(0, cut));
    compare(part(is_split ? cut : 0, all_->size()));
}

void QuantityJudge::test(const TailsOfViews& tails, bool is_mean)
{
    for (const Compared& some : compared_) {
        const double spec = some.view == View::newest ? usual_spec(some) : 0;
        for (std::size_t i = 0; i < some.places.size(); ++i)
            if (const Tails& own = tails.at(some.view)[quantity_.members[some.places[i]]];
                !is_implausible(some, i, spec, own))
                test_one(some, i, own, is_mean);
    }
    if (compared_.empty()) return;
    const Compared& most = *std::ranges::max_element(
        compared_, {}, [](const Compared& c) { return std::pair(c.view == View::newest, c.places.size()); });
    std::vector<double> halves;
    for (const std::uint32_t k : most.places) halves.push_back(0.5 * (interval(k).second - interval(k).first));
    double variance = most.rates->variance();
    if (most.pooled.freedom > 0)
        variance = (most.pooled.freedom * most.pooled.variance + most.freedom * variance) /
                   (most.pooled.freedom + most.freedom);
    tests_.visibilities.push_back({&ceiling_, most.healthy, tails.at(most.view)[quantity_.members[most.places.front()]],
                                   std::sqrt(variance), median_of(std::move(halves)), quantity_.material, is_mean});
}

void QuantityJudge::test_bounds(std::vector<std::size_t>& judged)
{
    const bool has_rates = all() != nullptr;
    if (has_rates)
        for (const std::uint32_t i : quantity_.members) ++judged[i];
    else if (quantity_.bounds.size() + all_->size() < fewest_compared)
        return;
    std::vector<LogRate> rates = all_->rates();
    if (!has_rates)
        for (const MemberRate& bound : quantity_.bounds) rates.push_back(rate_of(bound));
    const RateGroup group(rates);
    const Healthy& healthy = tests_.tables.healthy(rates.size(), {});
    for (std::size_t b = 0; b < quantity_.bounds.size(); ++b) {
        const MemberRate& bound = quantity_.bounds[b];
        const std::size_t own = has_rates ? rates.size() : all_->size() + b;
        const double median = has_rates ? group.median() : group.median_without(own);
        const LogRate rate = rate_of(bound);
        const double limit = median + quantity_.material;
        if (has_rates && rate.x >= limit) ++judged[bound.member];
        ++tests_.ceilings;
        if (rate.x >= limit) continue;
        const auto chance = [&](const LogRate& one) {
            return healthy.chance((one.x - median) / std::sqrt(group.variance()));
        };
        LowRate low{.member = &members_[bound.member],
                    .ceiling = &ceiling_,
                    .is_bound = true,
                    .median = median,
                    .x = rate.x,
                    .low = std::log(bound.rate->low),
                    .high = INFINITY,
                    .newest = rate.x,
                    .limit = limit,
                    .chance = chance(rate)};
        for (const Digest* digest : members_[bound.member].days) {
            if (digest == &members_[bound.member].newest()) continue;
            const DigestRate* const found = digest->find(quantity_.name);
            if (found == nullptr) continue;
            const double x = std::log(found->value);
            low.others.push_back(x < limit ? chance({x, 0}) : 1);
        }
        if (has_rates) low.is_wide = true;
        tests_.low.push_back(std::move(low));
    }
}

void QuantityJudge::find_day_variance()
{
    std::vector<double> deviations;
    std::size_t nodes = 0;
    for (const std::vector<LogRate>& rates : quantity_.days) {
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

void QuantityJudge::add(std::uint32_t place, Finding finding, double median, std::string reason)
{
    const auto [low, high] = interval(place);
    members_[quantity_.members[place]].finding->ceilings.push_back(
        {ceiling_.name, finding, std::exp(newest(place).x - median), std::exp(low - median), std::exp(high - median), 1,
         1, false, std::move(reason)});
}

void QuantityJudge::add_populations(const std::vector<std::uint32_t>& lower, const std::vector<std::uint32_t>& upper)
{
    double median = 0;
    for (const auto* places : {&lower, &upper}) {
        Population& population = ceiling_.populations.emplace_back();
        std::vector<double> rates;
        for (const std::uint32_t k : *places) {
            rates.push_back(newest(k).x);
            population.nodes.push_back(members_[quantity_.members[k]].newest().node);
        }
        median = median_of(std::move(rates));
        population.median = std::exp(median);
        std::ranges::sort(population.nodes);
    }
    for (const std::uint32_t k : lower)
        add(k, Finding::slower_population, median, fmt::format("one of {} slower nodes", lower.size()));
}

void QuantityJudge::compare(std::vector<std::uint32_t> places)
{
    if (!quantity_.days.empty()) {
        compare_means(places);
        compare_slower_days(places);
    }
    if (places.size() == all_->size()) {
        add_compared(View::newest, std::move(places), {}, all_);
        return;
    }
    std::vector<LogRate> rates;
    for (const std::uint32_t k : places) rates.push_back(newest(k));
    add_compared(View::newest, std::move(places), {}, std::make_shared<const RateGroup>(std::move(rates)));
}

void QuantityJudge::add_compared(View view, std::vector<std::uint32_t> places, std::vector<std::size_t> days,
                                 std::shared_ptr<const RateGroup> rates)
{
    Compared& some = compared_.emplace_back(Compared{view, std::move(places), std::move(days), std::move(rates)});
    some.healthy = &tests_.tables.healthy(some.places.size(), {});
}

std::vector<double> QuantityJudge::numbers_of_days(const std::vector<std::uint32_t>& places) const
{
    std::vector<double> days;
    for (const std::uint32_t k : places) days.push_back(static_cast<double>(quantity_.days[k].size()));
    return days;
}

void QuantityJudge::compare_means(const std::vector<std::uint32_t>& places)
{
    const std::vector<double> days = numbers_of_days(places);
    const double usual = std::max(2.0, median_of(days));
    std::vector<std::uint32_t> some;
    std::vector<std::size_t> some_days;
    std::vector<LogRate> rates;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (days[i] < usual) continue;
        some.push_back(places[i]);
        some_days.push_back(quantity_.days[places[i]].size());
        LogRate mean = mean_of(quantity_.days[places[i]]);
        mean.variance = std::max(mean.variance, day_variance_.value_or(0)) / days[i];
        rates.push_back(mean);
    }
    if (some.size() >= fewest_compared)
        add_compared(View::mean_of_days, std::move(some), std::move(some_days),
                     std::make_shared<const RateGroup>(std::move(rates)));
}

void QuantityJudge::compare_slower_days(const std::vector<std::uint32_t>& places)
{
    const auto usual = std::min(last_days, static_cast<std::size_t>(std::max(0.0, median_of(numbers_of_days(places)))));
    if (usual < fewest_last_days) return;
    std::vector<std::uint32_t> some;
    std::vector<LogRate> rates;
    for (const std::uint32_t k : places) {
        const std::vector<LogRate>& days = quantity_.days[k];
        if (days.size() < usual) continue;
        std::vector<LogRate> last(days.end() - static_cast<std::ptrdiff_t>(usual), days.end());
        std::ranges::sort(last, {}, &LogRate::x);
        last.resize(usual / 2);
        LogRate mean = mean_of(last);
        mean.variance /= static_cast<double>(last.size());
        some.push_back(k);
        rates.push_back(mean);
    }
    if (some.size() < fewest_compared) return;
    const std::size_t number = some.size();
    add_compared(View::slower_days, std::move(some), std::vector<std::size_t>(number, usual),
                 std::make_shared<const RateGroup>(std::move(rates)));
}

std::pair<double, double> QuantityJudge::interval(std::size_t k) const
{
    if (!quantity_.rates.empty()) return {std::log(quantity_.rates[k]->low), std::log(quantity_.rates[k]->high)};
    const double half = normal_95 * std::sqrt(newest(k).variance);
    return {newest(k).x - half, newest(k).x + half};
}

double QuantityJudge::usual_spec(const Compared& some) const
{
    std::vector<double> specs;
    if (!quantity_.rates.empty())
        for (const std::uint32_t k : some.places)
            if (quantity_.rates[k]->spec > 0) specs.push_back(quantity_.rates[k]->spec);
    return median_of(std::move(specs));
}

bool QuantityJudge::is_implausible(const Compared& some, std::size_t i, double spec, const Tails& tails)
{
    const std::uint32_t k = some.places[i];
    if (spec <= 0 || quantity_.rates[k]->low <= max_share_of_spec * spec) return false;
    if (some.healthy->chance(-some.distance(newest(k), i), tails) >=
        error_chance / static_cast<double>(some.places.size()))
        return false;
    ++tests_.ceilings;
    add(k, Finding::implausible, some.rates->median_without(i), "above the spec that the others' digests state");
    return true;
}

void QuantityJudge::test_one(const Compared& some, std::size_t i, const Tails& tails, bool is_mean)
{
    ++(is_mean ? tests_.means : tests_.ceilings);
    const std::uint32_t k = some.places[i];
    const LogRate& rate = some.rates->rate(i);
    LowRate low{.member = &members_[quantity_.members[k]],
                .ceiling = &ceiling_,
                .view = some.view,
                .is_mean = is_mean,
                .days = some.days_of(i),
                .median = some.rates->median_without(i),
                .x = rate.x,
                .newest = newest(k).x};
    low.limit = low.median + quantity_.material;
    const double half = half_of(some, i);
    const double deviation = std::sqrt(rate.variance);
    low.low = rate.x - half;
    low.high = rate.x + half;
    if (some.view == View::newest && !day_variance_) std::tie(low.low, low.high) = interval(k);
    if (low.low >= low.limit) return;
    const double z = some.distance(rate, i);
    constexpr double wide = 2;  // times the usual standard error
    low.is_wide = half >= -quantity_.material && deviation > wide * std::sqrt(some.rates->usual_variance());
    if (z > -2 && !low.is_wide) return;
    low.chance = some.healthy->chance(z, tails);
    low.chance_of_low = some.healthy->chance(some.distance({low.low, 0}, i), tails);
    if (!quantity_.days.empty()) add_other_days(some, i, tails, low);
    tests_.low.push_back(std::move(low));
}

double QuantityJudge::half_of(const Compared& some, std::size_t i) const
{
    const std::uint32_t k = some.places[i];
    const bool is_of_rounds =
        !quantity_.rates.empty() && log_rate(*quantity_.rates[k]).variance >= day_variance_.value_or(0);
    const int rounds = is_of_rounds ? quantity_.rates[k]->rounds * static_cast<int>(some.days_of(i)) : 0;
    return half_width_in_errors(rounds) * std::sqrt(some.rates->rate(i).variance);
}

void QuantityJudge::add_other_days(const Compared& some, std::size_t i, const Tails& tails, LowRate& low) const
{
    const std::uint32_t k = some.places[i];
    const Compared& newest = *std::ranges::find_if(compared_, [&](const Compared& c) {
        return c.view == View::newest && std::ranges::binary_search(c.places, k);
    });
    const auto own = static_cast<std::size_t>(std::ranges::lower_bound(newest.places, k) - newest.places.begin());
    const std::vector<LogRate>& days = quantity_.days[k];
    const double limit = newest.rates->median_without(own) + quantity_.material;
    for (std::size_t d = days.size() - std::min(days.size(), last_days); d + 1 < days.size(); ++d) {
        const double half = normal_95 * std::sqrt(days[d].variance);
        low.others.push_back(days[d].x + half < limit ? newest.healthy->chance(newest.distance(days[d], own), tails)
                                                      : 1);
    }
}

}  // namespace roof::analysis
