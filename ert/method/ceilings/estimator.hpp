// The estimator of every ceiling, on CPUs and GPUs: value, 95% interval and steadiness, computed by these functions.
// docs/ceilings.md explains them on one page; tests/method/test_estimator.cpp judges them on simulated interference and
// on recorded machines.
#pragma once

#include "ert/base/estimate.hpp"
#include "ert/base/names.hpp"

#include <vector>

namespace roof {

/// `steady`: the rounds agree within the tolerance. `seen_once`: those of one time do, and no other time confirms them
/// (looks.hpp). `rounds_disagree`: they agree on no rate that narrowly. `clock_varied`: they agree per clock, but the
/// clock changed during the run. `changed`: from some round on all are slower. `at_least`: too few undisturbed samples
/// or rounds show what is possible, so the rate is a lower bound.
enum class Steadiness { steady, seen_once, clock_varied, rounds_disagree, changed, at_least };
constexpr EnumNames<Steadiness::at_least> names_of(Steadiness)
{
    return {"steadiness",
            {"steady", "seen once", "unsteady: clock", "unsteady: rounds", "unsteady: changed", "at least"}};
}

/// Byte/s, FLOP/s or lines/s, as the role counts.
using Rate = Estimate<Quantity<0, 0, -1>>;
using PerClock = Estimate<Quantity<0, 0, 0>>;

struct RateSample {
    double rate = 0;   ///< work over time
    double clock = 0;  ///< Hz, of the cores beside the sample; 0 if not known
    bool disturbed = false;
    bool left_out = false;  ///< of a working set that agrees with no other: only faster ones count, against the result
    bool is_late = false;   ///< in the second half of its row
};
/// In order of time, as the rounds are.
using Round = std::vector<RateSample>;

struct SustainedRate {
    Rate rate;                ///< n: samples that agree. Of a lower bound the median is the low end
    PerClock per_clock{};     ///< all threads together; empty unless a clock was given, or read in each round
    Estimate<Hertz> clock{};  ///< of a rate over rounds, over the same rounds; else empty
    /// Where the samples agree: for comparisons of rates, not as a result.
    double centre = 0;
    Steadiness steadiness = Steadiness::at_least;  ///< then the rate is a lower bound, and so is a roof made of it
    int rounds = 0;                                ///< that agree
    bool differ = false;  ///< too few agree: those that lie near each other count, and are the rounds
    int changed_at = -1;  ///< of `changed`: the first round, from 0, that is slower; all after it are
    double after = 0;     ///< the median of these rounds
    /// Of looks, `looks_apart` or more apart, at which rounds agree with it (looks.hpp); 0: one calibration alone
    /// judges.
    int times = 0;
    Seconds over{};  ///< from the first of these times to the last
};

/// A rate that fewer samples or rounds reach may be chance.
inline constexpr std::size_t min_samples = 5;
inline constexpr int min_rounds = 3;

/// Half the width of an interval over so many rounds, in standard errors of its middle; with fewer than `min_rounds`,
/// whose interval is one over samples, 1.96.
double half_width_in_errors(int rounds);

/// What the hardware sustains when nothing else slows it: the fastest rate on which samples of several rounds agree.
/// Interference only slows, so faster samples count, and slower ones do not; rounds are seconds apart, so a short
/// disturbance cannot cover all of them.
///
/// The window is centred on the third fastest sample (of fewer than five, on their median) and moved to the median of
/// the samples within it, until it stays. The value is the mean of the rounds' medians in the window; the interval is
/// Student's, with the rounds as the independent observations. With fewer than three such rounds it is the range of the
/// window's samples. `tolerance`: the largest half-width, as a share of the rate, that counts as one rate; the window
/// reaches 1.5 times as far. `clock`: the run's clock, where it varied and the rate scales with it; the samples are
/// then compared per clock, and the rate is per clock times that clock. Rounds without samples give an empty rate.
SustainedRate sustained_rate(const std::vector<Round>& rounds, double tolerance, const Estimate<Hertz>& clock = {});

/// The mean of the rounds' medians of undisturbed samples, with Student's interval: for a device whose rounds differ by
/// its own clock, so that the fastest of them is no sign of less interference. Its clock and its rate per clock are the
/// same of the samples' clocks and of their rates per clock. Empty with fewer than `min_rounds` such rounds.
SustainedRate rate_over_rounds(const std::vector<Round>& rounds, double tolerance);

}  // namespace roof
