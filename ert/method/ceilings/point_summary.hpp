// The summary of a point over its rounds. A plan measures its whole list in several rounds, seconds apart, so that a
// disturbance of some seconds (a neighbour on the host, a slow clock, unlucky pages) does not cover every round of a
// point.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/estimator.hpp"
#include "ert/method/ceilings/plateaus.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// The largest half-width of an interval, as a share of the rate, that counts as one rate: 1% for the core, L1 and L2;
/// 3% for levels that carry other cores' traffic.
double tolerance_of(std::string_view level);

struct PointSummary {
    Measurement best;                 ///< the fastest round that is ok; `round` is taken out of its point
    std::vector<Round> samples;       ///< of each round that is ok, without warm-ups
    std::vector<std::size_t> places;  ///< of these rounds, among all rows, in order of time
    std::vector<double> seconds;  ///< from the start of the first row to that of each of these rounds; 0 if not known
    int rounds = 0;               ///< that are ok
    /// The third fastest sample: two may be chance, and interference only slows. 0 without a round.
    double fastest = 0;
    /// The median rate of all samples, disturbed ones included: what an ordinary program gets. 0 without a round.
    double typical = 0;

    /// Of a point of a sweep the samples that are disturbed, or those that are not. Rates of 0 with fewer than three.
    RatePoint rates_of(bool disturbed) const;
    /// With memory's tolerance, right for any point. Without samples the row's own interval; empty without a round.
    SustainedRate sustained() const;
    /// 1 where the point has no thread count.
    int threads() const { return best.point.has("threads") ? static_cast<int>(best.point.integer("threads")) : 1; }
};

/// Latency probes count each dependent step (a line of a chase, a launch) as this many bytes of work.
inline constexpr double bytes_per_access = 64;

/// One launch's work: accesses for a latency, bytes for a bandwidth, else FLOPs.
double work_of(const Measurement& row);

/// "bench device axis=value …" without the round: what all rounds of a point share.
std::string id_without_round(const std::string& bench, const std::string& device, const Point& point);

/// One summary per point, in order of the first rounds. A point without a round that is ok keeps its first row and has
/// no rate. `takes`: the rows that count; empty: all.
std::vector<PointSummary> summarize_points(std::span<const Measurement> rows,
                                           const std::function<bool(const Measurement&)>& takes = {});

}  // namespace roof
