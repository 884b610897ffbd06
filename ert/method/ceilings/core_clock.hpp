// The clock that the cores sustained. What a core computes, or moves within its own caches, is a fixed amount per clock; but the
// clock wanders by some percent, over seconds and longer, with what the neighbours on the chip draw. A ceiling that took the
// clock of its own few rounds would wander along. So one clock is found for all rows alike, and such a ceiling is its rate per
// clock, at that clock.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof {

/// The clocks of many rounds over a run.
///
/// Estimator: of the clocks of the rounds (medians over their undisturbed samples) the upper quartile: what the cores hold
/// time and again, and a lucky reading cannot set. Its interval is that of the order statistics of a dozen readings: a run lasts
/// some tens of seconds, and clocks less than a second or two apart tell of the same interference, so that the hundreds of rounds are
/// worth no more. From the 46th percentile to the 99th.
class CoreClock {
  public:
    explicit CoreClock(std::span<const Measurement> rows);

    /// PointSummary under work like that of the row: of its role, ISA and threads, for wide instructions and many cores may lower
    /// the clock. Where such rounds are few, under any work of its device. Empty if no clock was read.
    Estimate<Hertz> summary_under(const Measurement& row) const;

  private:
    std::map<std::string, std::vector<double>> clocks_;  ///< Hz, sorted; by kind of work, and by device
};

}  // namespace roof
