// The clock of a launch, from what each multiprocessor says.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/kernels/clock_reading.hpp"

#include <span>

namespace roof::gpu {

/// The median over the multiprocessors whose readings span enough time to divide by; 0 if none does.
Hertz clock_of(std::span<const ClockReading> readings);

}  // namespace roof::gpu
