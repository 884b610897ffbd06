// Beside the work of a kernel: the first thread of the first block reads both clocks when it begins and when it ends.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"

namespace roof::gpu {

class ClockSpan {
  public:
    __device__ ClockSpan() : cycles_(cycles()), nanoseconds_(nanoseconds()) {}

    /// To be called last; `reading` may be null.
    __device__ void end(ClockReading* reading) const
    {
        if (reading != nullptr && blockIdx.x == 0 && threadIdx.x == 0) tell(reading);
    }

    /// The same of the calling thread, whichever it is.
    __device__ void tell(ClockReading* reading) const
    {
        reading->cycles = cycles() - cycles_;
        reading->nanoseconds = nanoseconds() - nanoseconds_;
    }

  private:
    __device__ static unsigned long long cycles()
    {
        unsigned long long value;
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(value));
        return value;
    }
    __device__ static unsigned long long nanoseconds()
    {
        unsigned long long value;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
        return value;
    }

    unsigned long long cycles_;
    unsigned long long nanoseconds_;
};

}  // namespace roof::gpu
