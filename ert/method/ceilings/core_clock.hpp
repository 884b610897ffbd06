// The clock that the cores sustained. A core computes, and moves within its own caches, a fixed amount per clock. But the clock
// varies by some percent over seconds and longer, with the power that neighbours on the chip draw. A ceiling at the clock of its
// own few rounds would vary with it. So one clock is estimated from all rows, and such a ceiling is its rate per clock at that
// clock.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof {

/// The clocks of many rounds over a run.
///
/// Estimator: the upper quartile of the rounds' clocks, each a median over undisturbed samples. One lucky reading cannot set it. Its
/// interval is that of the order statistics of a dozen readings, from the 46th percentile to the 99th: clocks less than a second
/// or two apart share their interference, so the hundreds of rounds of a run count as a dozen.
class CoreClock {
  public:
    explicit CoreClock(std::span<const Measurement> rows);

    /// The clock under similar work: rows of the same role, ISA and threads, since wide instructions and many cores may lower the
    /// clock. Where there are few such rows, all rows of the device. Empty if no clock was read.
    Estimate<Hertz> sustained_under(const Measurement& row) const;

  private:
    std::map<std::string, std::vector<double>> clocks_;  ///< Hz, sorted; by similar work, and by device
};

}  // namespace roof
