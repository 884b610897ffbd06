// The clock of a launch, from what each multiprocessor says.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/kernels/clock_reading.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace roof::gpu {

/// The median over the multiprocessors whose readings span enough time to divide by; 0 if none does.
inline Hertz clock_of(std::span<const ClockReading> readings)
{
    constexpr double least_nanoseconds =
        50e3;  // the timer ticks every microsecond or so: shorter kernels do not tell the clock
    std::vector<double> clocks;
    for (const ClockReading& reading : readings) {
        if (reading.last_nanosecond <= reading.first_nanosecond) continue;
        const auto nanoseconds = static_cast<double>(reading.last_nanosecond - reading.first_nanosecond);
        if (nanoseconds < least_nanoseconds) continue;
        clocks.push_back(1e9 * static_cast<double>(reading.last_cycle - reading.first_cycle) / nanoseconds);
    }
    if (clocks.empty()) return {};
    const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
    std::ranges::nth_element(clocks, middle);
    return {*middle};
}

}  // namespace roof::gpu
