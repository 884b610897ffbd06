#include "ert/gpu/clock_of.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace roof::gpu {

namespace {

/// The timer ticks every microsecond or so: shorter kernels do not tell the clock.
constexpr double least_nanoseconds = 50e3;

}  // namespace

Hertz clock_of(std::span<const ClockReading> readings)
{
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
