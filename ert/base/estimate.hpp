// An estimate: a median with its 95% interval. Measured rates are always estimates, never plain doubles.
#pragma once

#include "ert/base/units.hpp"

#include <span>

namespace roof {

/// Indices (from 0, into sorted data) of the order statistics that enclose the median with at least 95% probability,
/// for any distribution: the largest k with P(Binomial(n, 1/2) < k) <= 2.5%. Fewer than six samples have no such pair;
/// then these are the smallest and the largest, with `coverage` 1 - 2^(1-n).
struct OrderInterval {
    std::size_t low = 0;
    std::size_t high = 0;
    double coverage = 0;
};
OrderInterval median_interval(std::size_t n);

/// Median, low and high of unsorted data in one unit.
struct Spread {
    double median = 0;
    double low = 0;
    double high = 0;
};
Spread spread_of(std::span<const double> values);

/// The rates of an amount in times between these ends. The high end of the time gives the low end of the rate.
inline Spread operator/(double amount, const Spread& by)
{
    return {amount / by.median, amount / by.high, amount / by.low};
}

/// Student's t, 97.5%, for so many observations, at least two; from ten on as for ten.
double student_t(std::size_t observations);

template <class Unit>
struct Estimate {
    Unit median{};
    Unit low{};
    Unit high{};
    int n = 0;          ///< samples used
    int discarded = 0;  ///< disturbed samples, not used

    static Estimate of(std::span<const double> values, int discarded = 0)
    {
        const Spread s = spread_of(values);
        return {Unit{s.median}, Unit{s.low}, Unit{s.high}, static_cast<int>(values.size()), discarded};
    }

    operator Spread() const { return {median.value, low.value, high.value}; }  // NOLINT: where text names the unit
    /// Half the width of the interval divided by the median; 0 for an empty estimate.
    double relative_half_width() const { return median.value > 0 ? 0.5 * (high.value - low.value) / median.value : 0; }
};

/// The same of units.
template <int F, int B>
Estimate<Quantity<F, B, -1>> operator/(Quantity<F, B, 0> amount, const Estimate<Seconds>& time)
{
    return {amount / time.median, amount / time.high, amount / time.low, time.n, time.discarded};
}

}  // namespace roof
