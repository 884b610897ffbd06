// Attention of one position over a cache of keys and values. A block takes a head of keys and values of an image, and the heads of
// queries that it serves one after the other: its threads weigh that many positions at once, then share the channels of their sum.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/sums.cuh"

namespace roof::cudnn {
namespace {

struct Shape {
    unsigned heads, kv_heads, channels, positions;
};

template <class Element>
__global__ void __launch_bounds__(threads_per_block)
    attend_cached(const Element* source, Element* cache, Element* result, Shape of, float scale)
{
    __shared__ float shared[threads_per_block];
    __shared__ float weights[threads_per_block];
    const unsigned thread = threadIdx.x;
    const unsigned image = blockIdx.x / of.kv_heads, head = blockIdx.x % of.kv_heads, group = of.heads / of.kv_heads;
    const Element* const given = source + std::size_t{image} * (of.heads + 2 * of.kv_heads) * of.channels;
    Element* const keys = cache + std::size_t{blockIdx.x} * 2 * of.positions * of.channels;
    Element* const values = keys + std::size_t{of.positions} * of.channels;
    const unsigned parts = threads_per_block / of.channels;
    const unsigned channel = thread % of.channels, part = thread / of.channels;
    if (part == 0) {
        const std::size_t own = std::size_t{of.positions - 1} * of.channels + channel;
        keys[own] = given[(of.heads + head) * of.channels + channel];
        values[own] = given[(of.heads + of.kv_heads + head) * of.channels + channel];
    }
    __syncthreads();
    for (unsigned query = head * group; query < (head + 1) * group; ++query) {
        const Element* const row = given + query * of.channels;
        float largest = -INFINITY, total = 0, sum = 0;
        for (unsigned first = 0; first < of.positions; first += threads_per_block) {
            const bool is_there = first + thread < of.positions;
            const Element* const key = keys + std::size_t{first + thread} * of.channels;
            float score = is_there ? 0 : -INFINITY;
            for (unsigned c = 0; is_there && c < of.channels; ++c) score += widen(row[c]) * widen(key[c]) * scale;
            const float next = fmaxf(largest, join(score, shared, thread, threads_per_block, Larger{}));
            weights[thread] = expf(score - next);
            const float before = expf(largest - next);
            total = total * before + join(weights[thread], shared, thread, threads_per_block, Plus{});
            sum *= before;
            const unsigned there = min(threads_per_block, of.positions - first);
            for (unsigned p = part; part < parts && p < there; p += parts)
                sum += weights[p] * widen(values[std::size_t{first + p} * of.channels + channel]);
            largest = next;
        }
        __syncthreads();
        shared[thread] = sum;
        __syncthreads();
        if (part > 0) continue;
        float all = 0;
        for (unsigned p = 0; p < parts; ++p) all += shared[p * of.channels + channel];
        result[(std::size_t{image} * of.heads + query) * of.channels + channel] = narrow<Element>(all / total);
    }
}

}  // namespace

void enqueue(const AttendCached& operation, const Memory& memory, cudaStream_t stream)
{
    const auto heads = static_cast<unsigned>(operation.heads), kv_heads = static_cast<unsigned>(operation.kv_heads);
    const Shape shape{heads, kv_heads, static_cast<unsigned>(operation.result.channels) / heads,
                      static_cast<unsigned>(operation.cache.width)};
    if (shape.channels > threads_per_block)
        throw Unsupported("a head has too many channels for the kernels of this engine");
    with_element(operation.source.precision, [&]<class Element>() {
        attend_cached<<<static_cast<unsigned>(operation.source.batch) * kv_heads, threads_per_block, 0, stream>>>(
            memory.at<Element>(operation.source), memory.at<Element>(operation.cache),
            memory.at<Element>(operation.result), shape, 1 / std::sqrt(static_cast<float>(shape.channels)));
        gpu::check(cudaGetLastError());
    });
}

}  // namespace roof::cudnn
