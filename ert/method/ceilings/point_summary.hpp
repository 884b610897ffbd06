// What the rounds to a point sustain together. A plan may round each item several times, the whole list once in each round,
// so that a disturbance that lasts for seconds (a neighbour on the host, a slow clock, unlucky pages) cannot cover every
// round. A disturbance only ever slows; so the fastest round is the nearest to what the machine can sustain.
//
// Estimator: the rate of a round is the median of its undisturbed samples; the ceiling is the rate of the fastest round. Its
// interval asks how far another set of rounds would have agreed: rounds, and samples within each, are drawn again with
// replacement many times, and the middle 95% of the answers is the interval. With one round it is that of the median.
// A round all of whose samples were disturbed counts only where every round was such.
//
// What is done per clock is estimated beside it, for ceilings that are the core's own (fit.cpp sets them at one clock).
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace roof {

/// Whether repeated rounds found one rate. `bimodal`: two, well apart, each more than once; `unsteady`: neither; `unsteady_clock`:
/// one per clock, but the clock wandered; `few_samples`: too few to tell, though they agree; `short_of_spec`: they agree on less than the
/// core is known to do.
enum class Steadiness { steady, few_samples, short_of_spec, unsteady_clock, bimodal, unsteady };

std::string_view name(Steadiness steadiness);

/// Samples that agree with each other.
struct Mode {
    double rate = 0;   ///< their median
    double share = 0;  ///< of all samples
};

/// Fewer undisturbed samples agree by chance.
constexpr int least_samples = 5;

/// Byte/s, FLOP/s or lines/s, as the role counts.
using Rate = Estimate<Quantity<0, 0, -1>>;

struct PointSummary {
    Measurement best;         ///< the fastest round; its `round` is taken out of the point
    Rate rate;                ///< n: samples of all rounds that are ok
    int rounds = 0;           ///< that are ok and count
    bool disturbed = false;   ///< no round had an undisturbed sample
    int disturbances = 0;     ///< samples of any round that were seen to be disturbed
    std::vector<Mode> modes;  ///< slowest first; one, or two well apart
    double median_rate = 0;   ///< the rate that half of the undisturbed samples reach
    double fastest = 0;       ///< the rate of the fastest sample
    /// The rate that half of all samples reach, the disturbed ones of all rounds among them: what a program meets that cannot
    /// choose its moment.
    double typical = 0;
    /// FLOPs, bytes or lines per clock, all threads together: each undisturbed sample's rate over the clock beside it, the
    /// median over the faster half of the rounds. Empty if the clock is not known.
    Estimate<Quantity<0, 0, 0>> per_clock;
    /// Of each round that counts, its median; those per clock are of rounds with a clock, and enough undisturbed samples.
    std::vector<double> round_rates;
    std::vector<double> round_rates_per_clock;

    /// Of an estimate over these rounds. `tolerance`: the half-width of the interval, as a share, that still is one rate.
    Steadiness steadiness(double half_width, double tolerance) const;
};

/// One dependent step of a latency probe, a line of a chase or a launch, is written as so many bytes of work.
inline constexpr double bytes_per_access = 64;

/// What one launch's work amounts to: accesses for a latency, bytes for a bandwidth, else FLOPs.
double work_of(const Measurement& row);

/// One for each point, in order of the first rounds. A point none of whose rounds is ok stands with its first row, and no
/// rate.
std::vector<PointSummary> summarize_points(std::span<const Measurement> rows);

}  // namespace roof
