// What a kernel says of the clock it ran at: cycles of a multiprocessor, and nanoseconds, over its own life.
#pragma once

namespace roof::gpu {

/// Written by the first thread of the first block.
struct ClockReading {
    unsigned long long cycles = 0;
    unsigned long long nanoseconds = 0;
};

}  // namespace roof::gpu
