// The cores' clock over a run. It may vary by some percent over seconds, with the power that neighbours on the chip
// draw; or it is constant, and only its readings vary. Differing readings count, unless rates of arithmetic stay the
// same where they differ.
#pragma once

#include "ert/method/ceilings/point_summary.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace roof {

class RunClock {
  public:
    /// Decides per device from the points of arithmetic and those of the smallest working sets, which the core serves
    /// alone.
    explicit RunClock(const std::vector<PointSummary>& points);

    /// Median and range of the clocks of all rounds of similar work: where the clock was over the run, not how well it
    /// is known. Of each hundred rounds the lowest and the highest are left out: one reading of many may be wrong.
    /// Similar: same device, role, ISA and threads, since wide instructions and many cores may lower the clock; by how
    /// much, rounds near in time show where the clock varies. Empty if no clock was read.
    Estimate<Hertz> under(const PointSummary& point) const;

    bool varies(const std::string& device) const { return varying_.contains(device); }

    /// These samples of the point, or of others of similar work, with credible clocks. What disturbs a sample may
    /// disturb its clock's reading too, and a reading that is too low would give more per clock than the core can do. A
    /// disturbed sample with a clock outside the range of under() gets its median.
    std::vector<Round> credible_samples(const PointSummary& point, std::vector<Round> rounds) const;

  private:
    std::map<std::string, double> shares_;  ///< by similar work: of the commonest work's clock at that time
    std::map<std::string, std::vector<double>> clocks_;  ///< Hz, sorted: of rounds, over their share; by device
    std::set<std::string> varying_;
};

/// Of that look, with its range where it varied; empty if none was read.
Estimate<Hertz> clock_of(const Look& look);

/// Of the newest look; its range also holds the middle of the looks' ranges, since one look may be odd. Empty if the
/// clock varied in no look.
Estimate<Hertz> clock_over(std::span<const Look> looks);

}  // namespace roof
