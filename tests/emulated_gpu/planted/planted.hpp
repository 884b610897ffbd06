// Kernels that are right, and the same with one planted error.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace roof::planted {

inline constexpr int threads = 128;

/// out[i] = the sum of all in[j] of i's block. `error`: the barrier is missing.
void enqueue_block_sums(const float* in, float* out, int blocks, bool error, cudaStream_t stream);
/// *out = the sum of the numbers of all blocks, added by the last block. `error`: the fence is missing.
void enqueue_last_block_sum(float* partial, unsigned* counter, float* out, int blocks, bool error, cudaStream_t stream);
/// out[i] = in[i + shift]
void enqueue_copy(const float* in, float* out, int shift, int blocks, cudaStream_t stream);
/// Reads 16 bytes at byte `at`.
void enqueue_wide_read(const char* in, float* out, int at, cudaStream_t stream);
/// Half of the block waits at a barrier.
void enqueue_half_barrier(float* out, cudaStream_t stream);
void enqueue_trap(cudaStream_t stream);

enum class Missing { nothing, wait, read_wait, proxy_fence, bulk_group_end };
/// out[i] = in[i] for `chunks` chunks of 1024 bytes through shared memory by bulk copies.
void enqueue_bulk_copy(const char* in, char* out, int chunks, Missing missing, cudaStream_t stream);

enum class WgmmaMissing { nothing, fence, wait, proxy_fence, barrier };
/// out[64][8] = a[64][16] * b[8][16]^T, halves in core matrices.
void enqueue_wgmma(const void* a, const void* b, float* out, WgmmaMissing missing, cudaStream_t stream);

/// out[i] = in[i], by clusters of two blocks, which meet first. `blocks` is even.
void enqueue_copy_by_pairs(const float* in, float* out, int blocks, cudaStream_t stream);

}  // namespace roof::planted
