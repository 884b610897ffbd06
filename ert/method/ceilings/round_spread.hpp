// How far one round lies from what many rounds find. An interval drawn from one round's samples, or from two, knows nothing of
// the interference between rounds, and a calibration in which other tenants left it no more would trust it too much. But the
// calibration's other points tell: those of the same level that were measured more often.
//
// Estimator: of every point with two rounds or more, the ratio of its rate to that of each of its rounds. If a share s of
// these ratios lies beyond a bound, then all of k rounds lie beyond it with probability s^k; so for k rounds the bounds are
// those that leave out the share 0.05^(1/k). For one round they span 95% of the ratios, for two 78%; in quiet interference all of
// them lie within a few parts in a thousand of 1. Three rounds and more know the interference themselves.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace roof {

class RoundSpread {
  public:
    /// `group`: points that share their interference. `rounds`: rates of the rounds that count, in the unit of `rate`. A single one
    /// tells nothing.
    void add(const std::string& group, double rate, const std::vector<double>& rounds);

    struct Bounds {
        double low = 1;
        double high = 1;
    };
    /// Factors on a rate found in so many rounds; both 1 for three or more, and where the group has told too little.
    Bounds bounds(const std::string& group, int rounds) const;

  private:
    std::map<std::string, std::vector<double>> ratios_;
};

}  // namespace roof
