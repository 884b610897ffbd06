#include "analysis/fleet/robust.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace roof::analysis {
namespace {

/// The rates have five digits.
constexpr double rounding_variance = 1e-10;
/// Simulated values of one group: few repetitions suffice for many machines, whose median and scatter are nearly certain.
constexpr std::size_t simulated_values = 200'000;

/// Deviations of more than this many standard deviations count as this many.
constexpr double winsorized = 1.75;

double below(double z)
{
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// The mean square of a winsorized standard normal number.
double winsorized_square()
{
    static const double value = [] {
        const double density = std::exp(-0.5 * winsorized * winsorized) / std::sqrt(2 * std::numbers::pi);
        const double beyond = below(-winsorized);
        return 1 - 2 * (winsorized * density + beyond) + 2 * winsorized * winsorized * beyond;
    }();
    return value;
}

std::vector<double> values_of(const std::vector<LogRate>& rates)
{
    std::vector<double> values;
    values.reserve(rates.size());
    for (const LogRate& rate : rates) values.push_back(rate.x);
    return values;
}

/// The share of the variance that lies between the two parts, for the best cut of sorted values; `cut` is the first of the upper part.
double best_cut(std::span<const double> sorted, std::size_t& cut)
{
    const std::size_t n = sorted.size();
    const auto count = static_cast<double>(n);
    const std::size_t least = std::max<std::size_t>(3, (n + 9) / 10);
    const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
    double all = 0;
    for (const double x : sorted) all += (x - mean) * (x - mean);
    double best = 0;
    double sum = 0;
    for (std::size_t k = 1; k < n; ++k) {
        sum += sorted[k - 1] - mean;
        const auto lower = static_cast<double>(k);
        const double between = sum * sum * count / (lower * (count - lower));
        if (k < least || n - k < least || between <= best) continue;
        best = between;
        cut = k;
    }
    return all > 0 ? best / all : 0;
}

/// The share that best_cut() exceeds in one of `1 / chance` normal groups.
double share_by_chance(std::size_t n, double chance)
{
    constexpr std::size_t enough = 1000;  // more machines make the share only more certain
    constexpr std::size_t groups = 2000;
    n = std::min(n, enough);
    std::mt19937_64 generator(n);  // the same numbers in every run, and for every group of this size
    std::normal_distribution<double> normal;
    std::vector<double> shares;
    std::vector<double> values(n);
    for (std::size_t i = 0; i < groups; ++i) {
        for (double& value : values) value = normal(generator);
        std::ranges::sort(values);
        std::size_t cut = 0;
        shares.push_back(best_cut(values, cut));
    }
    std::ranges::sort(shares);
    const auto beyond = static_cast<std::size_t>(chance * static_cast<double>(groups));
    return shares[groups - 1 - std::min(beyond, groups - 1)];
}

/// The indices in rising order.
std::vector<std::size_t> rising(std::span<const double> chances)
{
    std::vector<std::size_t> order(chances.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return chances[i]; });
    return order;
}

}  // namespace

double median_of(std::vector<double> values)
{
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2 == 1) return *middle;
    return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

SortedRates::SortedRates(std::vector<double> values) : values_(std::move(values))
{
    std::ranges::sort(values_);
    sums_.reserve(values_.size() + 1);
    sums_.emplace_back(0, 0);
    for (const double x : values_) {
        const double d = x - origin();
        sums_.emplace_back(sums_.back().first + d, sums_.back().second + d * d);
    }
}

std::pair<double, double> SortedRates::median_and_variance(std::size_t left_out) const
{
    const std::size_t n = values_.size() - (left_out < values_.size() ? 1 : 0);
    if (n == 0) return {0, 0};
    const auto at = [&](std::size_t k) { return values_[k < left_out ? k : k + 1]; };
    const double median = 0.5 * (at((n - 1) / 2) + at(n / 2));
    return {median, variance_about(median, n, left_out)};
}

/// By Newton's method from above, exact after few steps because the mean is concave and linear in pieces.
double SortedRates::variance_about(double median, std::size_t n, std::size_t left_out) const
{
    constexpr int most_steps = 100;
    constexpr double c2 = winsorized * winsorized;
    const double wanted = static_cast<double>(n) * winsorized_square();
    const double d = median - origin();
    std::size_t low = 0;
    std::size_t high = values_.size();
    double variance = 0;
    for (int step = 0; step < most_steps; ++step) {
        const bool is_inside = low <= left_out && left_out < high;
        const auto within = static_cast<double>(high - low);
        double square =
            sums_[high].second - sums_[low].second - 2 * d * (sums_[high].first - sums_[low].first) + within * d * d;
        if (is_inside) square -= (values_[left_out] - median) * (values_[left_out] - median);
        const double beyond = static_cast<double>(n) - within + (is_inside ? 1 : 0);
        variance = std::max(0.0, square) / (wanted - c2 * beyond);
        const double reach = winsorized * std::sqrt(variance);
        const auto begin =
            static_cast<std::size_t>(std::ranges::lower_bound(values_, median - reach) - values_.begin());
        const auto end = static_cast<std::size_t>(std::ranges::upper_bound(values_, median + reach) - values_.begin());
        if (begin == low && end == high) break;
        low = begin;
        high = end;
    }
    return variance;
}

RateGroup::RateGroup(std::vector<LogRate> rates)
    : rates_(std::move(rates)), order_(rates_.size()), place_(rates_.size()), sorted_(values_of(rates_))
{
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return rates_[i].x; });
    for (std::size_t k = 0; k < order_.size(); ++k) place_[order_[k]] = k;
    std::vector<double> variances;
    for (LogRate& rate : rates_) {
        rate.variance += rounding_variance;
        variances.push_back(rate.variance);
    }
    usual_variance_ = median_of(std::move(variances));
}

RateGroup::Scale RateGroup::scale_without(std::size_t i) const
{
    const auto [median, variance] = sorted_.median_and_variance(i == no_place ? no_place : place_[i]);
    return {median, std::max(0.0, variance - usual_variance_)};
}

double RateGroup::median_without(std::size_t i) const
{
    return scale_without(i).median;
}

double RateGroup::median() const
{
    return scale_without(no_place).median;
}

double RateGroup::scatter() const
{
    return std::sqrt(scale_without(no_place).tau2);
}

void RateGroup::simulate() const
{
    const std::size_t n = rates_.size();
    const std::size_t groups = std::clamp<std::size_t>(simulated_values / n, 20, 20'000);
    const double tau2 = scale_without(no_place).tau2;
    std::vector<double> deviations;
    for (const std::size_t i : order_) deviations.push_back(std::sqrt(tau2 + rates_[i].variance));
    std::mt19937_64 generator(n);  // the same numbers in every run, and for every group of this size
    std::normal_distribution<double> normal;
    for (std::size_t g = 0; g < groups; ++g) {
        const std::size_t left_out = g % n;
        std::vector<double> values(n - 1);
        for (std::size_t k = 0; k + 1 < n; ++k) values[k] = deviations[k < left_out ? k : k + 1] * normal(generator);
        const auto [median, variance] = SortedRates(std::move(values)).median_and_variance(no_place);
        healthy_.push_back({median, std::max(0.0, variance - usual_variance_)});
    }
}

double RateGroup::chance_as_low(LogRate rate, std::size_t i) const
{
    const Scale others = scale_without(i);
    const double own = std::max(rate.variance, usual_variance_);
    const double z = (rate.x - others.median) / std::sqrt(others.tau2 + own);
    if (z > -2) return 1;
    if (healthy_.empty()) simulate();
    const double deviation = std::sqrt(scale_without(no_place).tau2 + own);
    double sum = 0;
    for (const Scale& healthy : healthy_)
        sum += below((healthy.median + z * std::sqrt(healthy.tau2 + own)) / deviation);
    return sum / static_cast<double>(healthy_.size());
}

std::optional<std::size_t> RateGroup::upper_population(std::size_t ceilings) const
{
    constexpr std::size_t fewest = 12;
    if (rates_.size() < fewest) return std::nullopt;
    std::vector<double> sorted;
    for (const std::size_t i : order_) sorted.push_back(rates_[i].x);
    std::size_t cut = 0;
    const double share = best_cut(sorted, cut);
    constexpr double of_normal = 2 / std::numbers::pi;  // the share of a normal scatter cut at its mean
    if (share <= of_normal) return std::nullopt;
    const auto mean = [&](std::size_t from, std::size_t to) {
        const auto part = std::span(sorted).subspan(from, to - from);
        return std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size());
    };
    if (mean(cut, sorted.size()) - mean(0, cut) < -std::log1p(-material)) return std::nullopt;
    if (share <= share_by_chance(sorted.size(), error_chance / static_cast<double>(ceilings))) return std::nullopt;
    return cut;
}

std::vector<bool> holm(std::span<const double> chances, std::size_t tests)
{
    std::vector<bool> rejected(chances.size());
    std::size_t left = tests;
    for (const std::size_t i : rising(chances)) {
        if (chances[i] * static_cast<double>(left) > error_chance) break;
        rejected[i] = true;
        --left;
    }
    return rejected;
}

std::vector<bool> benjamini_hochberg(std::span<const double> chances, std::size_t tests)
{
    const std::vector<std::size_t> order = rising(chances);
    std::size_t kept = order.size();
    while (kept > 0 && chances[order[kept - 1]] * static_cast<double>(tests) > error_chance * static_cast<double>(kept))
        --kept;
    std::vector<bool> rejected(chances.size());
    for (std::size_t k = 0; k < kept; ++k) rejected[order[k]] = true;
    return rejected;
}

std::vector<double> ranks_of(std::span<const double> values)
{
    const std::vector<std::size_t> order = rising(values);
    std::vector<double> ranks(values.size());
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
        for (std::size_t k = begin; k < end; ++k) ranks[order[k]] = 0.5 * static_cast<double>(begin + 1 + end);
    }
    return ranks;
}

double chance_of_difference(std::span<const double> ranks, std::span<const std::size_t> some)
{
    if (std::min(some.size(), ranks.size() - some.size()) < fewest_ranked) return 1;
    const auto n = static_cast<double>(ranks.size());
    const auto a = static_cast<double>(some.size());
    double sum = 0;
    for (const std::size_t i : some) sum += ranks[i];
    double squares = 0;  // of the distances from the mean rank: smaller with ties
    for (const double rank : ranks) squares += (rank - (n + 1) / 2) * (rank - (n + 1) / 2);
    const double variance = a * (n - a) / (n * (n - 1)) * squares;
    if (variance <= 0) return 1;
    return std::min(1.0, 2 * below(-std::max(0.0, std::fabs(sum - a * (n + 1) / 2) - 0.5) / std::sqrt(variance)));
}

}  // namespace roof::analysis
