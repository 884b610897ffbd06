// The summary of a point over its rounds. A plan may measure its whole list in several rounds, so that a disturbance of some
// seconds (a neighbour on the host, a slow clock, unlucky pages) cannot cover every round of a point. Disturbances only slow; so
// the fastest round is the closest to what the machine can sustain.
//
// Estimator: a round's rate is the median of its undisturbed samples; the point's rate is that of its fastest round. The interval
// is a bootstrap: rounds, and samples within each, are drawn again with replacement, and the middle 95% of the results is the
// interval. With one round it is the interval of the median. A round with only disturbed samples is used only where every round
// is like that.
//
// The rate per clock is estimated beside it, for levels that scale with the clock (ceiling_maker.cpp).
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace roof {

/// Whether the rounds agree on one rate. `few_samples`: they agree, but are too few to tell. `short_of_spec`: they agree on less than
/// the core can do. `unsteady_clock`: they agree per clock, but the clock varied. `bimodal`: two rates far apart, each seen more than
/// once. `unsteady`: none of these.
enum class Steadiness { steady, few_samples, short_of_spec, unsteady_clock, bimodal, unsteady };

std::string_view name(Steadiness steadiness);

/// Samples that agree with each other.
struct Mode {
    double rate = 0;   ///< their median
    double share = 0;  ///< of all samples
};

/// Fewer undisturbed samples may agree by chance.
constexpr int least_samples = 5;

/// Byte/s, FLOP/s or lines/s, as the role counts.
using Rate = Estimate<Quantity<0, 0, -1>>;

struct PointSummary {
    Measurement best;         ///< the fastest round; its `round` is taken out of the point
    Rate rate;                ///< n: samples of all rounds that are ok
    int rounds = 0;           ///< number of rounds used
    bool disturbed = false;   ///< no round had an undisturbed sample
    int disturbances = 0;     ///< samples of any round that were seen to be disturbed
    std::vector<Mode> modes;  ///< slowest first; one, or two well apart
    double median_rate = 0;   ///< the median of the undisturbed samples
    double fastest = 0;       ///< the rate of the fastest sample
    /// The median rate of all samples, the disturbed ones of all rounds included: what an ordinary program gets.
    double typical = 0;
    /// FLOPs, bytes or lines per clock, all threads together: the median over the faster half of the rounds of each undisturbed
    /// sample's rate over the clock beside it. Empty if the clock is not known.
    Estimate<Quantity<0, 0, 0>> per_clock;
    /// The median of each round used; per clock only of rounds with a clock and enough undisturbed samples.
    std::vector<double> round_rates;
    std::vector<double> round_rates_per_clock;

    /// The steadiness of an estimate over these rounds. `tolerance`: the largest half-width, as a share, that counts as one rate.
    Steadiness steadiness(double half_width, double tolerance) const;
};

/// Latency probes count each dependent step (a line of a chase, a launch) as this many bytes of work.
inline constexpr double bytes_per_access = 64;

/// One launch's work: accesses for a latency, bytes for a bandwidth, else FLOPs.
double work_of(const Measurement& row);

/// One summary per point, in order of the first rounds. A point without a round that is ok keeps its first row and has no rate.
std::vector<PointSummary> summarize_points(std::span<const Measurement> rows);

}  // namespace roof
