// Beside the work of a kernel: every warp reads both clocks when it begins and when it ends.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"

namespace roof::gpu {

/// The number of the multiprocessor that a block runs on.
__device__ inline unsigned multiprocessor_here()
{
    unsigned number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

__device__ inline unsigned long long nanosecond()
{
    unsigned long long value;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
    return value;
}

class ClockSpan {
  public:
    __device__ ClockSpan() : cycle_(cycle()), nanosecond_(nanosecond()) {}

    /// To be called last by every thread that is to count. `readings`: [clock_readings] by multiprocessor, or null.
    __device__ void end(ClockReading* readings) const
    {
        constexpr unsigned lanes = 32;
        if (readings == nullptr || threadIdx.x % lanes != 0) return;
        const unsigned here = multiprocessor_here();
        if (here >= clock_readings) return;
        ClockReading& reading = readings[here];
        atomicMax(&reading.last_cycle, cycle());
        atomicMax(&reading.last_nanosecond, nanosecond());
        atomicMin(&reading.first_cycle, cycle_);
        atomicMin(&reading.first_nanosecond, nanosecond_);
    }

  private:
    __device__ static unsigned long long cycle()
    {
        unsigned long long value;
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(value));
        return value;
    }

    unsigned long long cycle_;
    unsigned long long nanosecond_;
};

}  // namespace roof::gpu
