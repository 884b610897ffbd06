// What lasts: the launches of a measured subject, repeated without pause for seconds, with the clock, the power and the
// joules of each window of some tenths of a second.
#pragma once

#include "ert/method/bench/power.hpp"
#include "ert/method/plan/measure.hpp"

namespace roof {

/// Follows a counter that moves in steps. Between two moves the power is taken as constant.
class EnergyWatch {
  public:
    /// Both must outlive it.
    EnergyWatch(const PowerMeter& meter, const Clock& clock) : meter_(meter), clock_(clock) {}

    /// Reads the meter, unless the last reading is less than 2 ms old.
    void look();
    /// Counted between these moments; 0 if that is not known, because the counter moved fewer than four times between
    /// them (by the meter's interval, else as seen), or not before and after them.
    Joules between(Seconds from, Seconds to) const;
    /// Mean of the readings since the last call; 0 without any.
    Watts take_instant();
    Watts limit() const { return limit_; }

  private:
    struct Move {
        Seconds at;
        double joules = 0;
    };

    const PowerMeter& meter_;
    const Clock& clock_;
    Seconds last_look_{};
    double last_ = 0;  ///< joules
    std::vector<Move> moves_;
    std::vector<double> instants_;
    Watts limit_;
};

/// Fills in `row.sustained` and appends the windows to `row.samples`: of whole launches for `time`, then of a training
/// step's launches up to the end of `forward` and of `backward` for as long, from whose differences the phases' joules
/// follow. The first and the last window of each are in no estimate. Returns remarks. `trace`: the one that the subject
/// was measured with, and is measured with no more. Throws what the subject throws, and Interrupted when the observer,
/// which is called after each window, returns false.
std::vector<std::string> sustain(Subject& subject, Trace& trace, Seconds time, const PowerMeter& meter,
                                 const Clock& clock, const SampleObserver& observer, Measurement& row);

}  // namespace roof
