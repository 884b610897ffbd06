// Time as a parameter: the loop and the subjects read the clock they are given; tests use a manual one.
#pragma once

#include "ert/base/units.hpp"

#include <functional>

namespace roof {

/// Seconds since an arbitrary moment; monotonic.
using Clock = std::function<Seconds()>;

/// The machine's monotonic clock. A reading throws Error if the clock did not advance before the first one.
Clock steady_clock();

}  // namespace roof
