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
/// Bins of distances: of equal width, then widening.
constexpr double bin_width = 0.25;
constexpr int even_bins = 32;
constexpr double bins_widen = 1.08;
constexpr int bins = even_bins + 90;
/// What is slow lies as far off as this or farther, in standard deviations, each factor of distance being as likely.
constexpr double slow_from = 3;
constexpr double slow_to = 1e4;

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

/// A mixture of normal distributions: standard deviations, in that which Huber's variance of the mixture shows, and their weights.
struct Mixture {
    std::vector<double> deviations;
    std::vector<double> weights;
};

Mixture scaled(Mixture mixture)
{
    double low = 0;
    double high = 100;
    constexpr int halvings = 60;
    for (int i = 0; i < halvings; ++i) {
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

/// Student's distribution.
Mixture student(double degrees)
{
    Mixture mixture;
    double sum = 0;
    constexpr double step = 0.05;
    for (double u = -3; u < 12; u += step) {  // ln of the deviation: degrees / deviation² is chi-squared
        const double chi2 = degrees * std::exp(-2 * u);
        const double weight = std::exp(0.5 * (degrees * std::log(chi2 / degrees) + degrees - chi2));  // at most 1
        constexpr double negligible = 1e-16;
        if (weight < negligible) continue;
        mixture.deviations.push_back(std::exp(u));
        mixture.weights.push_back(weight);
        sum += weight;
    }
    for (double& weight : mixture.weights) weight /= sum;
    return mixture;
}

/// Of each form but the normal one.
const std::vector<Mixture>& mixtures()
{
    static const std::vector<Mixture> all = [] {
        std::vector<Mixture> made;
        for (const double degrees : tail_degrees) made.push_back(scaled(student(degrees)));
        for (const auto& [share, times] : tail_shares) made.push_back(scaled({{1, times}, {1 - share, share}}));
        return made;
    }();
    return all;
}

/// The lower end of a bin.
double bin_from(int bin)
{
    return bin <= even_bins ? bin * bin_width : even_bins * bin_width * std::pow(bins_widen, bin - even_bins);
}

/// The chance of a slow rate between two distances.
double slow_between(double low, double high)
{
    const auto within = [](double z) { return std::log(std::clamp(z, slow_from, slow_to)); };
    return (within(high) - within(low)) / std::log(slow_to / slow_from);
}

}  // namespace

double digamma(double x)
{
    const double h = 0.01 * x;
    return (std::lgamma(x + h) - std::lgamma(x - h)) / (2 * h);
}

double trigamma(double x)
{
    const double h = 0.01 * x;
    return (std::lgamma(x + h) - 2 * std::lgamma(x) + std::lgamma(x - h)) / (h * h);
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
        const Scale scale = SortedRates(std::move(drawn)).scale(no_place);
        middle_and_variance.emplace_back(scale.middle, scale.variance);
        variances.push_back(scale.variance);
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
    std::vector<std::pair<double, double>> drawn;  // middle and estimated deviation, in true deviations
    for (const auto& [middle, variance] : groups.middle_and_variance) {
        double estimated = variance;
        if (pooled.freedom > 0) {
            const double own = 1 / share(pooled.freedom);
            estimated = (pooled.freedom * share(pooled.certainty) / own + groups.freedom * variance) /
                        (pooled.freedom + groups.freedom);
        }
        drawn.emplace_back(middle, std::sqrt(estimated));
    }
    std::vector<double>& normal = log_chances_[0];
    for (const double distance : places()) {
        double sum = 0;
        for (const auto& [middle, deviation] : drawn) sum += below(middle - distance * deviation);
        normal.push_back(std::max(lowest_log, std::log(sum / static_cast<double>(drawn.size()))));
    }
    for (std::size_t t = 1; t < log_chances_.size(); ++t) {
        const Mixture& mixture = mixtures()[t - 1];
        for (const double distance : places()) {
            double sum = 0;
            for (std::size_t k = 0; k < mixture.weights.size(); ++k)
                sum += mixture.weights[k] * std::exp(interpolated(normal, distance / mixture.deviations[k]));
            log_chances_[t].push_back(std::max(lowest_log, std::log(sum)));
        }
    }
    constexpr double in_few = 1.0 / 30;
    constexpr double in_many = 1.0 / 3;
    for (int b = 0; b < bins; ++b) {
        Likelihood& bin = bins_.emplace_back();
        const double slow = slow_between(bin_from(b), bin_from(b + 1));
        for (std::size_t t = 0; t < log_chances_.size(); ++t) {
            const auto beyond = [&](double z) { return z > 0 ? std::exp(interpolated(log_chances_[t], z)) : 0.5; };
            const double chance_of_bin = std::max(1e-300, beyond(bin_from(b)) - beyond(bin_from(b + 1)));
            bin.healthy[t] = std::log(chance_of_bin);
            bin.slow_in_few[t] = std::log((1 - in_few) * chance_of_bin + in_few * slow);
            bin.slow_in_many[t] = std::log((1 - in_many) * chance_of_bin + in_many * slow);
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

const Healthy::Likelihood& Healthy::log_likelihood(double distance) const
{
    constexpr double even_to = even_bins * bin_width;
    static const double step = std::log(bins_widen);
    const double bin = distance < even_to ? distance / bin_width : even_bins + std::log(distance / even_to) / step;
    return bins_[std::min(bins_.size() - 1, static_cast<std::size_t>(bin))];
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
        static_cast<int>(simulated.middle_and_variance.size() * 100'000) + static_cast<int>(simulated.freedom * 10),
        rounded(pooled.freedom), rounded(pooled.certainty)};
    std::unique_ptr<Healthy>& table = tables_[key];
    if (!table) table = std::make_unique<Healthy>(simulated, PooledScatter{1, value(key[1]), value(key[2])});
    return *table;
}

void TailCounts::add(std::size_t member, double z, const Healthy& healthy)
{
    Sides& own = sides_[member];
    const Healthy::Likelihood& one = healthy.log_likelihood(std::fabs(z));
    const auto add = [](Tails& sum, const Tails& logs) {
        for (std::size_t t = 0; t < sum.size(); ++t) sum[t] += logs[t];
    };
    if (z > 0) {
        add(own.upper, one.healthy);
        return;
    }
    add(own.lower.healthy, one.healthy);
    add(own.lower.slow_in_few, one.slow_in_few);
    add(own.lower.slow_in_many, one.slow_in_many);
}

std::vector<Tails> TailCounts::weights(const std::vector<Tails>& before) const
{
    constexpr double slow = 0.05;  // of the members
    std::vector<Tails> lower;
    Tails all{};
    for (const Sides& sides : sides_) {
        Tails& own = lower.emplace_back();
        for (std::size_t t = 0; t < all.size(); ++t) {
            const double logs[] = {std::log(1 - slow) + sides.lower.healthy[t],
                                   std::log(slow / 2) + sides.lower.slow_in_few[t],
                                   std::log(slow / 2) + sides.lower.slow_in_many[t]};
            const double most = std::ranges::max(logs);
            double sum = 0;
            for (const double log : logs) sum += std::exp(log - most);
            own[t] = most + std::log(sum);
            all[t] += own[t] + sides.upper[t];
        }
    }
    std::vector<Tails> weights;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
        Tails& own = weights.emplace_back(all);
        for (std::size_t t = 0; t < own.size(); ++t) own[t] -= lower[i][t];
        const double most = std::ranges::max(own);
        double total = 0;
        for (std::size_t t = 0; t < own.size(); ++t) total += own[t] = before[i][t] * std::exp(own[t] - most);
        for (double& weight : own) weight /= total;
    }
    return weights;
}

Tails tails_before()
{
    constexpr double students = 0.45;  // each by one over its degrees: the longer, the likelier
    constexpr double shares = 0.05;
    Tails tails{1 - students - shares};
    double sum = 0;
    for (const double degrees : tail_degrees) sum += 1 / degrees;
    for (std::size_t t = 0; t < tail_degrees.size(); ++t) tails[1 + t] = students / tail_degrees[t] / sum;
    for (std::size_t t = 0; t < tail_shares.size(); ++t)
        tails[1 + tail_degrees.size() + t] = shares / tail_shares.size();
    return tails;
}

}  // namespace roof::analysis
