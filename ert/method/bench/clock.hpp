// Time as a parameter: the loop and the subjects read the clock they are given, and tests turn one by hand.
#pragma once

#include "ert/base/units.hpp"

#include <functional>

namespace roof {

/// Seconds since an arbitrary moment, never going back.
using Clock = std::function<Seconds()>;

/// The machine's monotonic clock.
Clock steady_clock();

}  // namespace roof
