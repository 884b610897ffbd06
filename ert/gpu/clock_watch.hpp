// How the clocks of launches compare with the highest that the card reports: whether something held them down, and
// whether a reading is possible at all.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/trace.hpp"

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::gpu {

/// The clock of a launch from what each multiprocessor says: the median over those whose readings span enough time to
/// divide by; 0 if none does.
Hertz clock_of(std::span<const ClockReading> readings);

/// Before a probe begins, with the GPU at rest: waits while the driver says that the power cap, which is that of the
/// work before, holds the clock below 98% of `highest`, at most half a second. `rest` lets so much time pass. Returns
/// how much did.
Seconds wait_for_clock(const std::function<GpuState()>& look, Hertz highest, const std::function<void(Seconds)>& rest);

class ClockWatch {
  public:
    /// `highest`: 0 if unknown; then there is nothing to say.
    explicit ClockWatch(Hertz highest) : highest_(highest) {}

    /// Tells the trace the state of the device right after a launch, and why the launch is to be left out if it is.
    /// `clock`: what it ran at.
    void look(Trace& trace, const GpuState& state, Hertz clock);

    /// The clock of a launch, 0 if unknown, and whether the driver named the power cap then; that state is up to a
    /// second old. Returns why the launch is to be left out: a clock above the highest is wrong, and so may its rate
    /// be; empty if it counts.
    std::string_view saw(Hertz clock, bool names_power_cap);
    /// "the clock was below 98% of 1.98 GHz in 7 of 7 launches, down to 1.68 GHz; the driver named the power cap in 6
    /// of them"
    std::vector<std::string> remarks() const;

  private:
    Hertz highest_;
    Hertz lowest_{std::numeric_limits<double>::infinity()};  ///< of those held down
    int launches_ = 0;
    int held_ = 0;
    int capped_ = 0;  ///< of those held down
};

}  // namespace roof::gpu
