// When to stop repeating a launch.
#pragma once

#include "ert/base/units.hpp"

#include <vector>

namespace roof {

/// As written in a plan under `measure:`.
struct StoppingOptions {
    int warmup = 1;          ///< launches that are not counted
    int min_samples = 5;     ///< taken in any case
    int max_samples = 1000;  ///< samples
    double interval = 0.01;  ///< stop when the half-width of the 95% interval is at most this share of the median
    Seconds budget{1.0};     ///< stop when the launches together have taken this long
};

class StoppingRule {
  public:
    explicit StoppingRule(StoppingOptions options) : options_(options) {}

    void add(Seconds sample);
    /// A disturbed launch: it costs time and is not a sample.
    void discard(Seconds sample);
    /// Also true when disturbed launches took several budgets or outnumber `max_samples`, as on a busy machine.
    bool finished() const;
    int kept() const { return static_cast<int>(samples_.size()); }

  private:
    StoppingOptions options_;
    std::vector<double> samples_;
    Seconds spent_{};
    Seconds lost_{};
    int discarded_ = 0;
};

}  // namespace roof
