// Sums per channel over the threads of a block.
#pragma once

#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {

/// Sums of a vector's channels, `parts` for each.
template <int width, int parts>
struct Totals {
    float of[parts][width] = {};
};

/// Sums over the lines of a block. The first line gets the result.
template <unsigned threads, int width, int parts>
__device__ void sum_lines(Totals<width, parts>& sums, float* shared)
{
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
#pragma unroll
        for (int i = 0; i < width * parts; ++i)
            shared[static_cast<unsigned>(i) * threads + thread] = sums.of[i / width][i % width];
        __syncthreads();
        if (threadIdx.y < half) {
#pragma unroll
            for (int i = 0; i < width * parts; ++i)
                sums.of[i / width][i % width] +=
                    shared[static_cast<unsigned>(i) * threads + thread + half * blockDim.x];
        }
        __syncthreads();
    }
}

}  // namespace roof::cudnn
