// How far one visit lies from what many visits find. An interval drawn from one visit's samples, or from two, knows nothing of
// the weather between visits, and a calibration in which strangers left it no more would trust it too much. But the
// calibration's other points tell: those of the same level that were visited more often.
//
// Estimator: of every point with two visits or more, the ratio of its rate to that of each of its visits. If a share s of
// these ratios lies beyond a bound, then all of k visits lie beyond it with probability s^k; so for k visits the bounds are
// those that leave out the share 0.05^(1/k). For one visit they span 95% of the ratios, for two 78%; in quiet weather all of
// them lie within a few parts in a thousand of 1. Three visits and more know the weather themselves.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace roof {

class BetweenVisits {
  public:
    /// `group`: points that share their weather. `visits`: rates of the visits that count, in the unit of `rate`. A single one
    /// tells nothing.
    void add(const std::string& group, double rate, const std::vector<double>& visits);

    struct Bounds {
        double low = 1;
        double high = 1;
    };
    /// Factors on a rate found in so many visits; both 1 for three or more, and where the group has told too little.
    Bounds bounds(const std::string& group, int visits) const;

  private:
    std::map<std::string, std::vector<double>> ratios_;
};

}  // namespace roof
