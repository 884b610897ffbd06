#include "analysis/fleet/robust.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace roof::analysis {
namespace {

/// The rates have five digits.
constexpr double rounding_variance = 1e-10;
constexpr double normal_95 = 1.645;  // one side

std::vector<double> values_of(const std::vector<LogRate>& rates)
{
    std::vector<double> values;
    values.reserve(rates.size());
    for (const LogRate& rate : rates) values.push_back(rate.x);
    return values;
}

/// A population has at least so many.
std::size_t fewest_of(std::size_t n)
{
    return std::max<std::size_t>(3, (n + 9) / 10);
}

/// The share of the variance that lies between the two parts, for the best cut of sorted values; `cut` is the first of the upper part.
double best_cut(std::span<const double> sorted, std::size_t& cut)
{
    const std::size_t n = sorted.size();
    const auto count = static_cast<double>(n);
    const std::size_t least = fewest_of(n);
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

/// The variance between the logarithms of the quantities' own variances, when `found` was seen and chance alone makes `expected`: the mean
/// over what it may be, nearly all fleets having none beforehand. `freedom`: of `found`.
double difference_of_scatters(double found, double expected, double freedom)
{
    constexpr double alike = 2e-4;
    constexpr double none = 0.995;
    constexpr std::array may_be{alike, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2};
    const auto log_likelihood = [&](double own) {
        return -0.5 * freedom * (std::log(expected + own) + found / (expected + own));
    };
    double most = -INFINITY;
    for (const double own : may_be) most = std::max(most, log_likelihood(own));
    double sum = 0;
    double weights = 0;
    for (const double own : may_be) {
        const double before = own == alike ? none : (1 - none) / (may_be.size() - 1);
        const double weight = before * std::exp(log_likelihood(own) - most);
        sum += weight * own;
        weights += weight;
    }
    return sum / weights;
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

double below(double z)
{
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double winsorized_square(double reach)
{
    const double c = winsorized * reach;
    const double density = std::exp(-0.5 * c * c) / std::sqrt(2 * std::numbers::pi);
    const double beyond = below(-c);
    return 1 - 2 * (c * density + beyond) + 2 * c * c * beyond;
}

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
    const Scale found = scale(left_out);
    return {found.median, found.variance};
}

Scale SortedRates::scale(std::size_t left_out) const
{
    const std::size_t n = values_.size() - (left_out < values_.size() ? 1 : 0);
    if (n == 0) return {};
    const auto at = [&](std::size_t k) { return values_[k < left_out ? k : k + 1]; };
    return scale_about(0.5 * (at((n - 1) / 2) + at(n / 2)), n, left_out);
}

/// The variance by Newton's method from above, exact after few steps because the mean is concave and linear in pieces.
Scale SortedRates::scale_about(double median, std::size_t n, std::size_t left_out) const
{
    constexpr int most_steps = 100;
    constexpr double c2 = winsorized * winsorized;
    static const double usual_square = winsorized_square(1);
    static const double usual_within = 1 - 2 * below(-winsorized);
    const double wanted = static_cast<double>(n) * usual_square;
    const double d = median - origin();
    std::size_t low = 0;
    std::size_t high = values_.size();
    Scale scale{.median = median, .middle = median};
    for (int step = 0; step < most_steps; ++step) {
        const bool is_inside = low <= left_out && left_out < high;
        const auto within = static_cast<double>(high - low);
        const double sum = sums_[high].first - sums_[low].first;
        double square = sums_[high].second - sums_[low].second - 2 * d * sum + within * d * d;
        if (is_inside) square -= (values_[left_out] - median) * (values_[left_out] - median);
        const double beyond = static_cast<double>(n) - within + (is_inside ? 1 : 0);
        scale.variance = std::max(0.0, square) / (wanted - c2 * beyond);
        const double reach = winsorized * std::sqrt(scale.variance);
        const auto begin =
            static_cast<std::size_t>(std::ranges::lower_bound(values_, median - reach) - values_.begin());
        const auto end = static_cast<std::size_t>(std::ranges::upper_bound(values_, median + reach) - values_.begin());
        if (begin == low && end == high) {
            const auto above =
                static_cast<double>(values_.size() - high - (left_out < values_.size() && left_out >= high));
            const auto under = static_cast<double>(low - (left_out < low));
            const double inside = sum - within * d - (is_inside ? values_[left_out] - median : 0);
            scale.middle = median + (inside + reach * (above - under)) / (static_cast<double>(n) * usual_within);
            break;
        }
        low = begin;
        high = end;
    }
    return scale;
}

RateGroup::RateGroup(std::vector<LogRate> rates) : rates_(std::move(rates)), order_(rates_.size())
{
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) { return rates_[i].x; });
    std::vector<double> variances;
    variances.reserve(rates_.size());
    for (LogRate& rate : rates_) {
        rate.variance += rounding_variance;
        variances.push_back(rate.variance);
    }
    usual_variance_ = median_of(std::move(variances));
    const SortedRates sorted(values_of(rates_));
    all_ = sorted.scale(no_place);
    others_.resize(rates_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) {
        const Scale scale = sorted.scale(k);
        others_[order_[k]] = {scale.variance, static_cast<float>(scale.median - all_.median),
                              static_cast<float>(scale.middle - all_.median)};
    }
}

double RateGroup::variance() const
{
    return std::max(all_.variance, usual_variance_);
}

double RateGroup::least_variance() const
{
    return std::max(std::ranges::min_element(others_, {}, &Others::variance)->variance, usual_variance_);
}

double RateGroup::scatter() const
{
    return std::sqrt(std::max(0.0, all_.variance - usual_variance_));
}

double RateGroup::distance(LogRate rate, std::size_t i, const PooledScatter& pooled, double freedom) const
{
    double variance = others_[i].variance;
    if (pooled.freedom > 0)
        variance = (pooled.freedom * pooled.variance + freedom * variance) / (pooled.freedom + freedom);
    const double own = std::max(variance, usual_variance_) + std::max(0.0, rate.variance - usual_variance_);
    return (rate.x - all_.median - static_cast<double>(others_[i].middle)) / std::sqrt(own);
}

const Healthy& RateGroup::healthy() const
{
    if (!healthy_) healthy_ = std::make_shared<const Healthy>(SimulatedGroups(rates_.size()), PooledScatter{});
    return *healthy_;
}

double RateGroup::chance_as_low(LogRate rate, std::size_t i) const
{
    const double z = distance(rate, i);
    return z > -2 ? 1 : healthy().chance(z);
}

double RateGroup::visible(double chance) const
{
    return (healthy().distance(chance) - normal_95) * std::sqrt(variance());
}

std::optional<std::size_t> RateGroup::upper_population(double chance, double least) const
{
    constexpr std::size_t fewest = 12;
    const std::size_t n = rates_.size();
    if (n < fewest) return std::nullopt;
    std::vector<double> sorted;
    sorted.reserve(n);
    for (const std::uint32_t i : order_) sorted.push_back(rates_[i].x);
    if (sorted.back() - sorted.front() < least) return std::nullopt;
    std::size_t cut = 0;
    const double share = best_cut(sorted, cut);
    constexpr double of_normal = 2 / std::numbers::pi;  // the share of a normal scatter cut at its mean
    if (share <= of_normal) return std::nullopt;
    // The cut has at least a tenth on each side. Where fewer are far off, the middle between the medians shows it.
    const auto part = [&](std::size_t from, std::size_t to) {
        return std::vector(sorted.begin() + from, sorted.begin() + to);
    };
    const auto middle = [&](std::size_t at) { return 0.5 * (median_of(part(0, at)) + median_of(part(at, n))); };
    const auto moved = static_cast<std::size_t>(std::ranges::lower_bound(sorted, middle(cut)) - sorted.begin());
    if (std::min(moved, n - moved) < fewest_of(n)) return std::nullopt;
    cut = moved;
    const auto [low, low_variance] = SortedRates(part(0, cut)).median_and_variance(no_place);
    const auto [high, high_variance] = SortedRates(part(cut, n)).median_and_variance(no_place);
    constexpr double apart = 4;  // standard deviations; the halves of an even scatter are 3.5 apart
    const double within = 0.5 * (low_variance + high_variance);
    if (high - low < least || (high - low) * (high - low) < apart * apart * within) return std::nullopt;
    if (share <= share_by_chance(n, chance)) return std::nullopt;
    return cut;
}

PooledScatter pooled_scatter(const std::vector<ScatterOf>& scatters, double independent)
{
    constexpr std::size_t fewest = 4;
    if (scatters.size() < fewest) return {};
    const auto count = static_cast<double>(scatters.size());
    std::vector<double> logs;
    double mean = 0;
    double freedom = 0;
    double expected = 0;  // the scatter of the logarithms, were all variances equal
    for (const auto& [rates, simulated] : scatters) {
        logs.push_back(std::log(rates->variance()) - simulated->mean_log);
        mean += logs.back() / count;
        freedom += simulated->freedom / count;
        expected += trigamma(simulated->freedom / 2) / count;
    }
    double found = 0;
    for (const double log : logs) found += (log - mean) * (log - mean) / (count - 1);
    PooledScatter pooled;
    pooled.freedom = 2 * inverse_trigamma(difference_of_scatters(found, expected, std::max(1.0, independent - 1)));
    pooled.variance = std::exp(mean + digamma(pooled.freedom / 2) - std::log(pooled.freedom / 2));
    pooled.certainty = std::max(1.0, independent - 1) * freedom;
    return pooled;
}

std::vector<bool> holm(std::span<const double> chances, std::size_t tests, double error)
{
    std::vector<bool> rejected(chances.size());
    std::size_t left = tests;
    for (const std::size_t i : rising(chances)) {
        if (chances[i] * static_cast<double>(left) > error) break;
        rejected[i] = true;
        --left;
    }
    return rejected;
}

std::vector<bool> benjamini_hochberg(std::span<const double> chances, std::size_t tests, double error)
{
    const std::vector<std::size_t> order = rising(chances);
    std::size_t kept = order.size();
    while (kept > 0 && chances[order[kept - 1]] * static_cast<double>(tests) > error * static_cast<double>(kept))
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
