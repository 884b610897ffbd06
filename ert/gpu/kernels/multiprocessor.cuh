// The number of the multiprocessor that a block runs on.
#pragma once

namespace roof::gpu {

__device__ inline unsigned multiprocessor_here()
{
    unsigned number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

}  // namespace roof::gpu
