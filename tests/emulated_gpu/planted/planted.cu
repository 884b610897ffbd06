// Small kernels in the manner of the real ones. A template parameter leaves out what makes them right.
#include "tests/emulated_gpu/planted/planted.hpp"

#include <cstdint>

namespace roof::planted {

namespace {

template <bool has_barrier>
__global__ void block_sums(const float* in, float* out)
{
    __shared__ float values[threads];
    values[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    if constexpr (has_barrier) __syncthreads();
    float sum = 0;
    for (int i = 0; i < threads; ++i) sum += values[i];
    out[blockIdx.x * threads + threadIdx.x] = sum;
}

template <bool has_fence>
__global__ void last_block_sum(float* partial, unsigned* counter, float* out)
{
    partial[blockIdx.x] = static_cast<float>(blockIdx.x + 1);
    if constexpr (has_fence) __threadfence();
    if (atomicAdd(counter, 1U) != gridDim.x - 1) return;
    if constexpr (has_fence) __threadfence();
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += __ldcg(partial + i);
    *out = sum;
}

__global__ void copy(const float* in, float* out, int shift)
{
    const int i = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    out[i] = in[i + shift];
}

__global__ void wide_read(const char* in, float* out, int at)
{
    const float4 value = *reinterpret_cast<const float4*>(in + at);
    *out = value.x + value.y + value.z + value.w;
}

__global__ void half_barrier(float* out)
{
    if (threadIdx.x < threads / 2) __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void always_trap()
{
    asm volatile("trap;");
}

__device__ unsigned shared_address(const void* pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

constexpr int chunk_bytes = 1024;
constexpr int stages = 2;

__device__ void load_chunk(char* to, unsigned barrier, const char* from)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "n"(chunk_bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "n"(chunk_bytes), "r"(barrier)
                 : "memory");
}

__device__ void wait_for(unsigned barrier, unsigned parity)
{
    unsigned is_there = 0;
    while (is_there == 0) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(is_there)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    }
}

/// One warp. Each lane adds nothing to its part of a chunk, so that it has to be there and to be fenced.
template <Missing missing>
__global__ void bulk_copy(const char* in, char* out, int chunks)
{
    __shared__ alignas(128) char memory[stages][chunk_bytes];
    __shared__ alignas(8) unsigned long long barriers[stages];
    const bool leads = threadIdx.x == 0;
    if (leads) {
        for (auto& barrier : barriers)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
    for (int n = 0; n < chunks; ++n) {
        const int stage = n % stages;
        if (leads) {
            if constexpr (missing != Missing::read_wait)
                asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(stages - 1) : "memory");
            load_chunk(memory[stage], shared_address(&barriers[stage]), in + n * chunk_bytes);
        }
        __syncwarp();
        if constexpr (missing != Missing::wait) wait_for(shared_address(&barriers[stage]), n / stages & 1);
        volatile auto* const words = reinterpret_cast<unsigned*>(memory[stage]);
        for (int i = threadIdx.x; i < chunk_bytes / 4; i += 32) words[i] = words[i] + 0;
        if constexpr (missing != Missing::proxy_fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (leads) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + n * chunk_bytes),
                         "r"(shared_address(memory[stage])), "n"(chunk_bytes)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if constexpr (missing != Missing::bulk_group_end) {
        if (leads) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

template <WgmmaMissing missing>
__global__ void small_wgmma(const uint4* a, const uint4* b, float* out)
{
    __shared__ alignas(1024) uint4 operands[128 + 16];
    operands[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x < 16) operands[128 + threadIdx.x] = b[threadIdx.x];
    if constexpr (missing != WgmmaMissing::proxy_fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if constexpr (missing != WgmmaMissing::barrier) __syncthreads();
    // Core matrices of 128 bytes; two along k, then the next 8 rows.
    const auto descriptor = [](unsigned address) {
        return static_cast<unsigned long long>(address / 16) | 128ULL / 16 << 16 | 256ULL / 16 << 32;
    };
    float d[4] = {0, 0, 0, 0};
    if constexpr (missing != WgmmaMissing::fence) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(descriptor(shared_address(operands))), "l"(descriptor(shared_address(operands + 128))));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if constexpr (missing != WgmmaMissing::wait) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    const int row = 16 * (threadIdx.x / 32) + threadIdx.x % 32 / 4;
    for (int i = 0; i < 4; ++i) out[(row + 8 * (i / 2)) * 8 + 2 * (threadIdx.x % 4) + i % 2] = d[i];
    if constexpr (missing == WgmmaMissing::wait) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

__device__ void meet_cluster()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__global__ void copy_by_pairs(const float* in, float* out)
{
    meet_cluster();
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    out[i] = in[i];
}

}  // namespace

void enqueue_block_sums(const float* in, float* out, int blocks, bool error, cudaStream_t stream)
{
    (error ? block_sums<false> : block_sums<true>)<<<blocks, threads, 0, stream>>>(in, out);
}
void enqueue_last_block_sum(float* partial, unsigned* counter, float* out, int blocks, bool error, cudaStream_t stream)
{
    (error ? last_block_sum<false> : last_block_sum<true>)<<<blocks, 1, 0, stream>>>(partial, counter, out);
}
void enqueue_copy(const float* in, float* out, int shift, int blocks, cudaStream_t stream)
{
    copy<<<blocks, threads, 0, stream>>>(in, out, shift);
}
void enqueue_wide_read(const char* in, float* out, int at, cudaStream_t stream)
{
    wide_read<<<1, 1, 0, stream>>>(in, out, at);
}
void enqueue_half_barrier(float* out, cudaStream_t stream)
{
    half_barrier<<<1, threads, 0, stream>>>(out);
}
void enqueue_trap(cudaStream_t stream)
{
    always_trap<<<1, 1, 0, stream>>>();
}

void enqueue_bulk_copy(const char* in, char* out, int chunks, Missing missing, cudaStream_t stream)
{
    const auto kernel = missing == Missing::nothing       ? bulk_copy<Missing::nothing>
                        : missing == Missing::wait        ? bulk_copy<Missing::wait>
                        : missing == Missing::read_wait   ? bulk_copy<Missing::read_wait>
                        : missing == Missing::proxy_fence ? bulk_copy<Missing::proxy_fence>
                                                          : bulk_copy<Missing::bulk_group_end>;
    kernel<<<1, 32, 0, stream>>>(in, out, chunks);
}

void enqueue_wgmma(const void* a, const void* b, float* out, WgmmaMissing missing, cudaStream_t stream)
{
    const auto kernel = missing == WgmmaMissing::nothing   ? small_wgmma<WgmmaMissing::nothing>
                        : missing == WgmmaMissing::fence   ? small_wgmma<WgmmaMissing::fence>
                        : missing == WgmmaMissing::wait    ? small_wgmma<WgmmaMissing::wait>
                        : missing == WgmmaMissing::barrier ? small_wgmma<WgmmaMissing::barrier>
                                                           : small_wgmma<WgmmaMissing::proxy_fence>;
    kernel<<<1, 128, 0, stream>>>(static_cast<const uint4*>(a), static_cast<const uint4*>(b), out);
}

void enqueue_copy_by_pairs(const float* in, float* out, int blocks, cudaStream_t stream)
{
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {2, 1, 1};
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(static_cast<unsigned>(blocks));
    configuration.blockDim = dim3(threads);
    configuration.stream = stream;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    cudaLaunchKernelEx(&configuration, copy_by_pairs, in, out);
}

}  // namespace roof::planted
