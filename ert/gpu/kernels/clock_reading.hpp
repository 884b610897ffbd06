// The clock that a kernel ran at: cycles and nanoseconds of each multiprocessor over a launch.
#pragma once

namespace roof::gpu {

inline constexpr unsigned clock_readings = 256;  ///< multiprocessors that have one

/// Of one multiprocessor: when the first of its warps began, and when the last ended. One warp alone would not do: the
/// scheduler may let it run ahead of the others, and it ends long before the launch does, while the clock changes.
struct ClockReading {
    unsigned long long first_cycle = ~0ULL;
    unsigned long long first_nanosecond = ~0ULL;
    unsigned long long last_cycle = 0;
    unsigned long long last_nanosecond = 0;
};

}  // namespace roof::gpu
