#include "analysis/fleet/robust.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace roof::analysis {
namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);
/// The rates have five digits.
constexpr double rounding_variance = 1e-10;
constexpr double normal_mad = 1.4826;  ///< standard deviation over MAD, of a normal scatter
/// Simulated values of one group: few repetitions suffice for many machines, whose median and scatter are nearly certain.
constexpr std::size_t simulated_values = 400'000;

double below(double z)
{
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// Normal numbers, the same in every run and for every group of this size.
std::mt19937_64 generator_for(std::size_t size)
{
    return std::mt19937_64(size);
}

double middle_of(std::vector<double>& values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2 == 1) return *middle;
    return 0.5 * (*middle + *std::max_element(values.begin(), middle));
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
    std::mt19937_64 generator = generator_for(n);
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

}  // namespace

double median_of(std::vector<double> values)
{
    return values.empty() ? 0 : middle_of(values);
}

RateGroup::RateGroup(std::vector<LogRate> rates)
    : rates_(std::move(rates)), order_(rates_.size()), place_(rates_.size())
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
    const std::size_t n = rates_.size() - (i == nobody ? 0 : 1);
    const std::size_t skipped = i == nobody ? rates_.size() : place_[i];
    const auto at = [&](std::size_t k) { return rates_[order_[k < skipped ? k : k + 1]].x; };
    if (n == 0) return {};
    const double middle = 0.5 * (at((n - 1) / 2) + at(n / 2));
    // The distances from the middle are two sorted lists: downwards from `up`, and upwards. `lower` of the n/2 + 1 nearest are below.
    const std::size_t up = n / 2;
    const std::size_t wanted = n / 2 + 1;
    std::size_t least = wanted > n - up ? wanted - (n - up) : 0;
    std::size_t most = std::min(wanted, up);
    while (least < most) {
        const std::size_t lower = (least + most) / 2;
        if (middle - at(up - 1 - lower) < at(up + wanted - lower - 1) - middle)
            least = lower + 1;
        else
            most = lower;
    }
    const double down = least > 0 ? middle - at(up - least) : 0;
    const double upwards = wanted > least ? at(up + wanted - least - 1) - middle : 0;
    const double deviation = normal_mad * std::max(down, upwards);
    return {middle, std::max(0.0, deviation * deviation - usual_variance_)};
}

double RateGroup::median_without(std::size_t i) const
{
    return scale_without(i).median;
}

double RateGroup::median() const
{
    return scale_without(nobody).median;
}

double RateGroup::scatter() const
{
    return std::sqrt(scale_without(nobody).tau2);
}

void RateGroup::simulate() const
{
    const std::size_t n = rates_.size();
    const std::size_t groups = std::clamp<std::size_t>(simulated_values / n, 50, 20'000);
    const double tau2 = scale_without(nobody).tau2;
    std::vector<double> deviations;
    for (const std::size_t i : order_) deviations.push_back(std::sqrt(tau2 + rates_[i].variance));
    std::mt19937_64 generator = generator_for(n);
    std::normal_distribution<double> normal;
    std::vector<double> values(n - 1);
    for (std::size_t g = 0; g < groups; ++g) {
        const std::size_t left_out = g % n;
        for (std::size_t k = 0; k + 1 < n; ++k) values[k] = deviations[k < left_out ? k : k + 1] * normal(generator);
        const double middle = middle_of(values);
        for (double& value : values) value = std::fabs(value - middle);
        const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::ranges::nth_element(values, half);
        const double deviation = normal_mad * *half;
        healthy_.push_back({middle, std::max(0.0, deviation * deviation - usual_variance_)});
    }
}

double RateGroup::chance_as_low(LogRate rate, std::size_t i) const
{
    const Scale others = scale_without(i);
    const double own = std::max(rate.variance, usual_variance_);
    const double z = (rate.x - others.median) / std::sqrt(others.tau2 + own);
    if (z > -2) return 1;
    if (healthy_.empty()) simulate();
    const double deviation = std::sqrt(scale_without(nobody).tau2 + std::max(rate.variance, rounding_variance));
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

namespace {

std::vector<std::size_t> rising(std::span<const double> chances)
{
    std::vector<std::size_t> order(chances.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return chances[i]; });
    return order;
}

}  // namespace

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
    constexpr std::size_t fewest = 3;
    if (some.size() < fewest || ranks.size() - some.size() < fewest) return 1;
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
