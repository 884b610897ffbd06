// Is one value low among others? The statistic of docs/fleet.md, and its chance among healthy machines by simulation: no cut-off from
// a textbook, because median and scatter of few machines are uncertain themselves.
#pragma once

#include "analysis/fleet/healthy.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace roof::analysis {

/// ln of a rate, and the variance of that by the rate's own interval.
struct LogRate {
    double x = 0;
    double variance = 0;
};

/// The share by which a machine must be slower than the others for it to matter.
inline constexpr double material = 0.03;
/// The chance of error of each list and of every other statement about a fleet, after correction for all of them. Half of the 5% that a
/// fleet is promised: real scatter is not quite normal.
inline constexpr double error_chance = 0.025;

/// Deviations of more than this many standard deviations count as this many.
inline constexpr double winsorized = 1.75;

/// Leaves out none of the values.
inline constexpr std::size_t no_place = static_cast<std::size_t>(-1);

/// Of some values.
struct Scale {
    double median = 0;
    double variance = 0;
    double middle = 0;
};

/// Sorted values, and the scale of all but one of them in logarithmic time. The variance v is Huber's: the mean of
/// min((x - median)², 1.75² v) is what it is for a normal scatter. It has half the error of 1.4826 MAD squared, and a quarter of the values
/// may be far off. The middle is Huber's mean in one step from the median: a deviation of more than 1.75 standard deviations counts as
/// that. Of normal values its error is 5/6 of the median's.
class SortedRates {
  public:
    explicit SortedRates(std::vector<double> values);
    /// `left_out`: a place in the sorted values, or `no_place`.
    Scale scale(std::size_t left_out) const;
    std::pair<double, double> median_and_variance(std::size_t left_out) const;

  private:
    double origin() const { return values_[values_.size() / 2]; }
    Scale scale_about(double median, std::size_t n, std::size_t left_out) const;

    std::vector<double> values_;
    std::vector<std::pair<double, double>>
        sums_;  ///< of the values before a place, less the origin, and of their squares
};

/// The rates of one quantity on the machines of a group.
///   m    middle of the other machines
///   v    their variance, or what PooledScatter makes of it
///   z    (x - m) / sqrt(max(v, median of s²) + max(0, s² - median of s²))
/// An interval that is narrow by luck does not make a machine look certain.
class RateGroup {
  public:
    explicit RateGroup(std::vector<LogRate> rates);

    std::size_t size() const { return rates_.size(); }
    const LogRate& rate(std::size_t i) const { return rates_[i]; }
    const std::vector<LogRate>& rates() const { return rates_; }
    /// The median of all but rate `i`.
    double median_without(std::size_t i) const { return all_.median + others_[i].median; }
    double median() const { return all_.median; }
    /// Of all, at least the median of s².
    double variance() const;
    /// The median of s².
    double usual_variance() const { return usual_variance_; }
    /// The smallest v without one machine: a machine that is far off does not count.
    double least_variance() const;
    /// The standard deviation of all beyond what their own variances explain.
    double scatter() const;
    /// The distance of `rate` from the others in standard deviations. `i`: the machine's own rate in the group, which does not count among
    /// the others. `freedom`: the degrees of freedom of v.
    double distance(LogRate rate, std::size_t i, const PooledScatter& pooled = {}, double freedom = 0) const;
    /// The chance that a healthy machine lies as low as `rate`, if the scatter is normal. 1 for what is not clearly below the median. The
    /// first call simulates.
    double chance_as_low(LogRate rate, std::size_t i) const;
    /// The smallest difference on the scale of ln, below 0, that is found in 95% of cases at this chance of error, by chance_as_low().
    double visible(double chance) const;

    /// Two populations, if the machines form two and neither a normal scatter nor an even one would: the first index of the upper one in
    /// the order of x. Each has at least a tenth of the machines and three of them, and their medians differ by `least` or more on the
    /// scale of ln. `chance`: of two populations in a normal scatter.
    std::optional<std::size_t> upper_population(double chance, double least = -std::log1p(-material)) const;
    /// The indices in the order of x.
    const std::vector<std::uint32_t>& order() const { return order_; }

  private:
    /// Of many machines there are many: median and middle are to the median of all, so that seven digits are enough.
    struct Others {
        double variance = 0;
        float median = 0;
        float middle = 0;
    };
    const Healthy& healthy() const;

    std::vector<LogRate> rates_;
    std::vector<std::uint32_t> order_;
    std::vector<Others> others_;  ///< without each
    Scale all_{};
    double usual_variance_ = 0;  ///< median of s²
    mutable std::shared_ptr<const Healthy> healthy_;
};

/// The rates of one quantity, and what simulated groups of so many say about the error of their variance.
struct ScatterOf {
    const RateGroup* rates = nullptr;
    const SimulatedGroups* simulated = nullptr;
};

/// What the scatters of the quantities of a group say about each, by Smyth's estimate (2004) of how much variances differ; nothing for
/// fewer than four. `independent`: correlated quantities count as fewer.
PooledScatter pooled_scatter(const std::vector<ScatterOf>& scatters, double independent);

/// Which hypotheses to reject, by Holm's method (the chance of any false rejection is `error`) and by that of Benjamini and Hochberg
/// (the share of false ones among the rejected). `tests`: their number with those that are not in `chances` and have chance 1.
std::vector<bool> holm(std::span<const double> chances, std::size_t tests, double error = error_chance);
std::vector<bool> benjamini_hochberg(std::span<const double> chances, std::size_t tests, double error = error_chance);

/// The ranks of values, from 1; equal values share their mean rank.
std::vector<double> ranks_of(std::span<const double> values);
inline constexpr std::size_t fewest_ranked = 3;
/// Mann and Whitney's test: the chance that the values with the indices `some` differ this much or more from the others, up or down, if
/// all are of one kind. Normal approximation; `ranks` are those of ranks_of(). 1 for fewer than
/// `fewest_ranked` on either side.
double chance_of_difference(std::span<const double> ranks, std::span<const std::size_t> some);

/// The chance that a standard normal number is below z.
double below(double z);
/// The mean square of a standard normal number whose deviations count as at most `reach` times 1.75.
double winsorized_square(double reach);

/// Median of values, which may be in any order; 0 without values.
double median_of(std::vector<double> values);

}  // namespace roof::analysis
