// How far a single round lies from the result of many. The samples of one or two rounds do not show the interference between
// rounds, so their interval would be too narrow. Points of the same level that were measured in more rounds show it.
//
// Estimator: for every point with at least two rounds, the ratio of its rate to the rate of each of its rounds. If a share s of
// these ratios lies beyond a bound, all of k rounds lie beyond it with probability s^k. So for k rounds the bounds exclude the
// share 0.05^(1/k): for one round they span 95% of the ratios, for two 78%. Without interference all ratios lie within a few
// parts in a thousand of 1. Three or more rounds need no such widening.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace roof {

class RoundSpread {
  public:
    /// `group`: points with the same kind of interference. `rounds`: rates of the rounds used, in the unit of `rate`; a single
    /// round is ignored.
    void add(const std::string& group, double rate, const std::vector<double>& rounds);

    struct Bounds {
        double low = 1;
        double high = 1;
    };
    /// Factors on a rate from so many rounds; both 1 for three or more rounds, and for a group with too few ratios.
    Bounds bounds(const std::string& group, int rounds) const;

  private:
    std::map<std::string, std::vector<double>> ratios_;
};

}  // namespace roof
