#include "ert/base/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace roof {

OrderInterval median_interval(std::size_t n)
{
    if (n == 0) return {};
    // P(Binomial(n, 1/2) < k), its terms in logarithms so that n = 10,000 does not underflow.
    const auto count = static_cast<double>(n);
    double log_term = count * std::log(0.5);
    double below = 0;
    std::size_t k = 0;
    while (k <= n / 2 && below + std::exp(log_term) <= 0.025) {
        below += std::exp(log_term);
        log_term += std::log((count - static_cast<double>(k)) / static_cast<double>(k + 1));
        ++k;
    }
    if (k == 0) return {0, n - 1, n == 1 ? 0 : 1 - std::pow(2.0, 1 - count)};
    return {k - 1, n - k, 1 - 2 * below};
}

Spread spread_of(std::span<const double> values)
{
    if (values.empty()) return {};
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    const std::size_t n = sorted.size();
    const OrderInterval interval = median_interval(n);
    const double median = n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
    return {median, sorted[interval.low], sorted[interval.high]};
}

double student_t(std::size_t observations)
{
    constexpr std::array<double, 9> errors{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262};
    return errors[std::min(observations - 2, errors.size() - 1)];
}

}  // namespace roof
