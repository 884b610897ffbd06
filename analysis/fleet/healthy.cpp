#include "analysis/fleet/healthy.hpp"

#include "analysis/fleet/robust.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace roof::analysis {
namespace {

/// Beyond it the estimates are as good as certain.
constexpr std::size_t most_simulated = 1000;
constexpr double lowest_log = -700;
/// Bins of distances: the first from 0.
constexpr double bins_from = 1.5;
constexpr double bins_widen = 1.12;
constexpr double bins_to = 1000;

/// Distances of the table: evenly up to 12, then in steps of a tenth.
const std::vector<double>& places()
{
    static const std::vector<double> all = [] {
        std::vector<double> z;
        constexpr double even_to = 12;
        constexpr double step = 0.1;
        constexpr double far = 1e4;
        for (int j = 0; j * step < even_to; ++j) z.push_back(j * step);
        for (double at = even_to; at < far; at *= 1 + step) z.push_back(at);
        return z;
    }();
    return all;
}

double interpolated(const std::vector<double>& table, double distance)
{
    const std::vector<double>& at = places();
    if (distance >= at.back()) return table.back();
    const auto next = static_cast<std::size_t>(std::ranges::upper_bound(at, distance) - at.begin());
    const double share = (distance - at[next - 1]) / (at[next] - at[next - 1]);
    return table[next - 1] + share * (table[next] - table[next - 1]);
}

/// Student's distribution as a mixture of normal ones: standard deviations, in that which Huber's variance shows, and their weights.
struct Mixture {
    std::vector<double> deviations;
    std::vector<double> weights;
};

Mixture mixture_of(double degrees)
{
    Mixture mixture;
    double sum = 0;
    constexpr double step = 0.05;
    for (double u = -3; u < 12; u += step) {  // ln of the deviation: degrees / deviation² is chi-squared
        const double chi2 = degrees * std::exp(-2 * u);
        const double weight = std::exp(0.5 * degrees * std::log(chi2) - 0.5 * chi2);
        if (weight < 1e-300) continue;
        mixture.deviations.push_back(std::exp(u));
        mixture.weights.push_back(weight);
        sum += weight;
    }
    for (double& weight : mixture.weights) weight /= sum;
    double low = 0;
    double high = 100;
    constexpr int halvings = 60;
    for (int i = 0; i < halvings; ++i) {  // Huber's variance of the mixture
        const double v = 0.5 * (low + high);
        double square = 0;
        for (std::size_t k = 0; k < mixture.weights.size(); ++k)
            square += mixture.weights[k] * winsorized_square(std::sqrt(v) / mixture.deviations[k]) *
                      mixture.deviations[k] * mixture.deviations[k];
        (square > winsorized_square(1) * v ? low : high) = v;
    }
    for (double& deviation : mixture.deviations) deviation /= std::sqrt(low);
    return mixture;
}

const std::array<Mixture, tail_degrees.size()>& mixtures()
{
    static const std::array<Mixture, tail_degrees.size()> all = [] {
        std::array<Mixture, tail_degrees.size()> made;
        for (std::size_t t = 1; t < made.size(); ++t) made[t] = mixture_of(tail_degrees[t]);
        return made;
    }();
    return all;
}

}  // namespace

double trigamma(double x)
{
    constexpr double far = 10;  // from here on the series is exact to 1e-8
    double sum = 0;
    for (; x < far; ++x) sum += 1 / (x * x);
    return sum + 1 / x + 1 / (2 * x * x) + 1 / (6 * x * x * x);
}

double digamma(double x)
{
    constexpr double far = 10;
    double sum = 0;
    for (; x < far; ++x) sum -= 1 / x;
    return sum + std::log(x) - 1 / (2 * x) - 1 / (12 * x * x);
}

double inverse_trigamma(double y)
{
    double low = 1e-3;
    double high = 1e6;
    constexpr int halvings = 80;
    for (int i = 0; i < halvings; ++i) {
        const double x = std::sqrt(low * high);
        (trigamma(x) > y ? low : high) = x;
    }
    return low;
}

SimulatedGroups::SimulatedGroups(std::size_t n)
{
    constexpr std::size_t values = 400'000;
    n = std::min(n, most_simulated);
    const std::size_t groups = std::clamp<std::size_t>(values / n, 400, 5000);
    std::mt19937_64 generator(n);  // the same numbers in every run, and for every group of this size
    std::normal_distribution<double> normal;
    std::vector<double> variances;
    double squares = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        std::vector<double> drawn(n - 1);
        for (double& x : drawn) x = normal(generator);
        median_and_variance.push_back(SortedRates(std::move(drawn)).median_and_variance(no_place));
        variances.push_back(median_and_variance.back().second);
        const double log = std::log(variances.back());
        mean_log += log / static_cast<double>(groups);
        squares += log * log / static_cast<double>(groups);
    }
    freedom = 2 * inverse_trigamma(std::max(1e-6, squares - mean_log * mean_log));
    std::ranges::sort(variances);
    largest = variances[groups - 1 - groups / 100];
}

Healthy::Healthy(const SimulatedGroups& groups, const PooledScatter& pooled)
{
    std::mt19937_64 generator(1);
    const auto share = [&](double freedom) {  // a variance of so many degrees of freedom
        return freedom > 0 ? std::gamma_distribution<double>(freedom / 2, 2 / freedom)(generator) : 1.0;
    };
    std::vector<std::pair<double, double>> drawn;  // median and estimated deviation, in true deviations
    for (const auto& [median, variance] : groups.median_and_variance) {
        double estimated = variance;
        if (pooled.freedom > 0) {
            const double own = 1 / share(pooled.freedom);
            estimated = (pooled.freedom * share(pooled.certainty) / own + groups.freedom * variance) /
                        (pooled.freedom + groups.freedom);
        }
        drawn.emplace_back(median, std::sqrt(estimated));
    }
    std::vector<double>& normal = log_chances_[0];
    for (const double distance : places()) {
        double sum = 0;
        for (const auto& [median, deviation] : drawn) sum += below(median - distance * deviation);
        normal.push_back(std::max(lowest_log, std::log(sum / static_cast<double>(drawn.size()))));
    }
    for (std::size_t t = 1; t < tail_degrees.size(); ++t) {
        const Mixture& mixture = mixtures()[t];
        for (const double distance : places()) {
            double sum = 0;
            for (std::size_t k = 0; k < mixture.weights.size(); ++k)
                sum += mixture.weights[k] * std::exp(interpolated(normal, distance / mixture.deviations[k]));
            log_chances_[t].push_back(std::max(lowest_log, std::log(sum)));
        }
    }
    for (double low = 0; low < bins_to; low = low == 0 ? bins_from : low * bins_widen) {
        const double high = low == 0 ? bins_from : low * bins_widen;
        Tails& bin = bins_.emplace_back();
        for (std::size_t t = 0; t < tail_degrees.size(); ++t) {
            Tails one{};
            one[t] = 1;
            bin[t] = std::log(std::max(1e-300, (low == 0 ? 0.5 : chance(-low, one)) - chance(-high, one)));
        }
    }
}

double Healthy::chance(double z, const Tails& tails) const
{
    if (z >= 0) return 0.5;
    double sum = 0;
    for (std::size_t t = 0; t < tails.size(); ++t)
        if (tails[t] > 0) sum += tails[t] * std::exp(interpolated(log_chances_[t], -z));
    return std::min(0.5, sum);
}

const Tails& Healthy::log_likelihood(double distance) const
{
    if (distance < bins_from) return bins_.front();
    static const double step = std::log(bins_widen);
    const auto bin = static_cast<std::size_t>(std::log(distance / bins_from) / step);
    return bins_[std::min(bin + 1, bins_.size() - 1)];
}

double Healthy::distance(double wanted, const Tails& tails) const
{
    double low = places().front();
    double high = places().back();
    constexpr int halvings = 60;
    for (int i = 0; i < halvings; ++i) {
        const double at = 0.5 * (low + high);
        (chance(-at, tails) > wanted ? low : high) = at;
    }
    return -high;
}

const SimulatedGroups& HealthyTables::groups(std::size_t n)
{
    constexpr std::size_t exact = 32;
    constexpr double step = 1.1;
    double rounded = exact;
    while (static_cast<double>(n) >= rounded * step && rounded < most_simulated) rounded *= step;
    const std::size_t size = n <= exact ? n : static_cast<std::size_t>(rounded);
    const auto found = groups_.find(size);
    return found != groups_.end() ? found->second : groups_.emplace(size, SimulatedGroups(size)).first->second;
}

const Healthy& HealthyTables::healthy(std::size_t n, const PooledScatter& pooled)
{
    constexpr double step = 0.25;  // of ln
    const auto rounded = [&](double freedom) {
        return freedom > 0 ? static_cast<int>(std::floor(std::log(freedom) / step)) : -1000;
    };
    const auto value = [&](int place) { return place == -1000 ? 0.0 : std::exp(place * step); };
    const SimulatedGroups& simulated = groups(n);
    const std::array<int, 3> key{
        static_cast<int>(simulated.median_and_variance.size() * 100'000) + static_cast<int>(simulated.freedom * 10),
        rounded(pooled.freedom), rounded(pooled.certainty)};
    std::unique_ptr<Healthy>& table = tables_[key];
    if (!table) table = std::make_unique<Healthy>(simulated, PooledScatter{1, value(key[1]), value(key[2])});
    return *table;
}

void TailCounts::add(std::size_t member, double z, const Healthy& healthy)
{
    Side& side = (z > 0 ? upper_ : lower_)[member];
    side.farthest = std::max(side.farthest, std::fabs(z));
    ++count_;
    const Tails& log_likelihood = healthy.log_likelihood(std::fabs(z));
    for (std::size_t t = 0; t < tail_degrees.size(); ++t) side.log_likelihood[t] += log_likelihood[t];
}

std::vector<TailsOfOthers> TailCounts::weights(const std::vector<TailsOfOthers>& before) const
{
    constexpr std::size_t few = 2000;
    constexpr std::size_t share_of_lowest = 16;
    constexpr double surely_normal = 0.85;
    constexpr double times = 2.5;
    const auto add = [](Side& sum, const Side& one) {
        for (std::size_t t = 0; t < tail_degrees.size(); ++t) sum.log_likelihood[t] += one.log_likelihood[t];
        sum.farthest = std::max(sum.farthest, one.farthest);
    };
    Side upper{};
    for (const Side& one : upper_) add(upper, one);
    // The lowest members are those that speak most against a normal scatter.
    std::vector<std::size_t> order(lower_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        return lower_[i].log_likelihood[0] - std::ranges::max(lower_[i].log_likelihood);
    });
    const std::size_t left_out = std::max<std::size_t>(1, order.size() / share_of_lowest);
    std::vector<TailsOfOthers> all;
    for (std::size_t i = 0; i < upper_.size(); ++i) {
        Side sum = upper;
        std::size_t skipped = 0;
        for (std::size_t k = 0; k < order.size() && count_ < few; ++k) {
            if (order[k] == i) continue;
            if (skipped++ >= left_out) add(sum, lower_[order[k]]);
        }
        TailsOfOthers own{};
        const double most = std::ranges::max(sum.log_likelihood);
        double total = 0;
        for (std::size_t t = 0; t < tail_degrees.size(); ++t)
            total += own.weights[t] = before[i].weights[t] * std::exp(sum.log_likelihood[t] - most);
        for (double& weight : own.weights) weight /= total;
        if (count_ < few && own.weights[0] < surely_normal) own.least = times * sum.farthest;
        all.push_back(own);
    }
    return all;
}

Tails tails_before()
{
    constexpr double normal = 0.5;
    Tails tails;
    tails.fill((1 - normal) / (tails.size() - 1));
    tails[0] = normal;
    return tails;
}

}  // namespace roof::analysis
