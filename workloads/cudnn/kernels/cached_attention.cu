// Attention of one position over a cache of keys and values. A block takes one of the pieces of a cache and some of the
// heads of queries that it serves. The lanes that share a key have 8 channels each; every such group of lanes takes
// other positions, and keeps its own sums. They are joined by lanes, by warps, and by the last block of the cache,
// always in the same order.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/sums.cuh"

#include <cfloat>

namespace roof::cudnn {
namespace {

constexpr unsigned most_channels_of_head = lanes * vector_width;  ///< of a head
constexpr int most_queries = 4;                                   ///< at once

template <class Element>
struct Cached {
    const Element* source;
    Element* cache;
    Element* result;
    float* partial;       ///< [images][heads][pieces][channels of a head, then largest score and total]
    const float* angles;  ///< of half a head's channels the cosines, then the sines; null: none is turned
    unsigned heads, kv_heads, channels, positions, sharing;
    float scale;

    __host__ __device__ unsigned group() const { return heads / kv_heads; }
};

/// 8 channels from `first`, zeros beyond the last; `whole`: the channels are whole vectors.
template <bool whole, class Element>
__device__ Lanes<vector_width> some_channels(const Element* row, unsigned first, unsigned channels)
{
    Lanes<vector_width> some{};
    if constexpr (whole) {
        if (first < channels) some = load<vector_width>(row, first / vector_width);
    } else {
#pragma unroll
        for (unsigned i = 0; i < vector_width; ++i)
            if (first + i < channels) some.lane[i] = widen(row[first + i]);
    }
    return some;
}

template <bool whole, class Element>
__device__ void put_channels(Element* row, unsigned first, unsigned channels, const Lanes<vector_width>& some)
{
    if constexpr (whole) {
        if (first < channels) store(row, first / vector_width, some);
    } else {
#pragma unroll
        for (unsigned i = 0; i < vector_width; ++i)
            if (first + i < channels) row[first + i] = narrow<Element>(some.lane[i]);
    }
}

/// As some_channels(), turned by the angles where there are any, and rounded as a map of turned queries and keys is.
template <bool whole, class Element>
__device__ Lanes<vector_width> turned_channels(const Element* row, unsigned first, unsigned channels,
                                               const float* angles)
{
    Lanes<vector_width> own = some_channels<whole>(row, first, channels);
    if (!whole || angles == nullptr || first >= channels) return own;
    const unsigned half = channels / 2, angle = first % half;
    const bool is_left = first < half;
    const auto other = some_channels<whole>(row, is_left ? first + half : angle, channels);
    const auto cosine = load<vector_width>(angles, angle / vector_width);
    const auto sine = load<vector_width>(angles + half, angle / vector_width);
#pragma unroll
    for (int i = 0; i < vector_width; ++i) {
        const float across = other.lane[i] * sine.lane[i];
        own.lane[i] = own.lane[i] * cosine.lane[i] + (is_left ? -across : across);
    }
    round<Element>(own);
    return own;
}

/// Weighted values of the positions seen, as sums of exp(score - largest).
struct Weighed {
    float largest = -FLT_MAX;
    float total = 0;
    Lanes<vector_width> sum{};

    __device__ void add(float score, const Lanes<vector_width>& value)
    {
        const float next = fmaxf(largest, score);
        const float before = expf(largest - next), weight = expf(score - next);
        total = total * before + weight;
#pragma unroll
        for (int i = 0; i < vector_width; ++i) sum.lane[i] = sum.lane[i] * before + weight * value.lane[i];
        largest = next;
    }
    /// With what the lane at this distance has.
    __device__ void join_lanes(unsigned distance)
    {
        const float other = __shfl_xor_sync(~0U, largest, distance);
        const float next = fmaxf(largest, other);
        const float mine = expf(largest - next);
        total *= mine;
        total += __shfl_xor_sync(~0U, total, distance);
#pragma unroll
        for (int i = 0; i < vector_width; ++i) {
            sum.lane[i] *= mine;
            sum.lane[i] += __shfl_xor_sync(~0U, sum.lane[i], distance);
        }
        largest = next;
    }
};

/// Joins `count` triples of numbers at(k) = {largest, total, sum}; returns the same of all.
template <class At>
__device__ float3 joined(unsigned count, const At& at)
{
    float3 all{-FLT_MAX, 0, 0};
#pragma unroll 8
    for (unsigned k = 0; k < count; ++k) {
        const float3 one = at(k);
        const float next = fmaxf(all.x, one.x);
        const float before = expf(all.x - next), factor = expf(one.x - next);
        all = {next, all.y * before + one.y * factor, all.z * before + one.z * factor};
    }
    return all;
}

/// blockIdx.x: cache of an image and head of keys, and which of its heads of queries; blockIdx.y: piece.
template <class Element, bool whole, int queries>
__global__ void __launch_bounds__(threads_per_block, 2) attend_cached(Cached<Element> of, unsigned* counters)
{
    __shared__ float sums[warps][queries][most_channels_of_head], largest[warps][queries], totals[warps][queries];
    const unsigned shares = (of.group() + queries - 1) / queries;
    const unsigned cache = blockIdx.x / shares, share = blockIdx.x % shares;
    const unsigned image = cache / of.kv_heads, head = cache % of.kv_heads;
    const unsigned first_query = head * of.group() + share * queries;
    const unsigned there = min(static_cast<unsigned>(queries), of.group() - share * queries);
    const Element* const given = of.source + std::size_t{image} * (of.heads + 2 * of.kv_heads) * of.channels;
    const Element* const own_key = given + std::size_t{of.heads + head} * of.channels;
    const Element* const own_value = own_key + std::size_t{of.kv_heads} * of.channels;
    Element* const keys = of.cache + std::size_t{cache} * 2 * of.positions * of.channels;
    Element* const values = keys + std::size_t{of.positions} * of.channels;
    const unsigned last = of.positions - 1;
    const unsigned channel = threadIdx.x % of.sharing * vector_width;
    __shared__ float turned_key[most_channels_of_head];  // of the last position
    if (threadIdx.x < of.sharing) {
        const auto key = turned_channels<whole>(own_key, channel, of.channels, of.angles);
#pragma unroll
        for (unsigned i = 0; i < vector_width; ++i) turned_key[channel + i] = key.lane[i];
        if (share == 0 && blockIdx.y == 0) {
            put_channels<whole>(keys + std::size_t{last} * of.channels, channel, of.channels, key);
            const auto value = some_channels<whole>(own_value, channel, of.channels);
            put_channels<whole>(values + std::size_t{last} * of.channels, channel, of.channels, value);
        }
    }
    __syncthreads();

    Lanes<vector_width> query[queries];
    Weighed weighed[queries];
#pragma unroll
    for (int q = 0; q < queries; ++q) {
        const unsigned number = first_query + min(static_cast<unsigned>(q), there - 1);
        query[q] = turned_channels<whole>(given + std::size_t{number} * of.channels, channel, of.channels, of.angles);
#pragma unroll
        for (int i = 0; i < vector_width; ++i) query[q].lane[i] *= of.scale;
    }
    const unsigned step = threads_per_block / of.sharing * gridDim.y;
    const unsigned first = (blockIdx.y * threads_per_block + threadIdx.x) / of.sharing;
    const unsigned rounds = (of.positions + step - 1) / step;  // the same for all lanes, which exchange numbers
#pragma unroll 2
    for (unsigned round = 0; round < rounds; ++round) {
        const unsigned position = first + round * step;
        const bool is_own = position >= last;  // or none
        const std::size_t row = std::size_t{position} * of.channels;
        Lanes<vector_width> key;
        if (is_own) {
#pragma unroll
            for (unsigned i = 0; i < vector_width; ++i) key.lane[i] = turned_key[channel + i];
        } else {
            key = some_channels<whole>(keys + row, channel, of.channels);
        }
        const auto value = some_channels<whole>(is_own ? own_value : values + row, channel, of.channels);
#pragma unroll
        for (int q = 0; q < queries; ++q) {
            float score = 0;
#pragma unroll
            for (int i = 0; i < vector_width; ++i) score += query[q].lane[i] * key.lane[i];
            for (unsigned distance = of.sharing / 2; distance > 0; distance /= 2)
                score += __shfl_xor_sync(~0U, score, distance);
            if (position <= last) weighed[q].add(score, value);
        }
    }
    const unsigned warp = threadIdx.x / lanes;
#pragma unroll
    for (int q = 0; q < queries; ++q) {
        for (unsigned distance = of.sharing; distance < lanes; distance *= 2) weighed[q].join_lanes(distance);
        if (threadIdx.x % lanes >= of.sharing) continue;
#pragma unroll
        for (int i = 0; i < vector_width; ++i)
            sums[warp][q][channel + static_cast<unsigned>(i)] = weighed[q].sum.lane[i];
        if (channel != 0) continue;
        largest[warp][q] = weighed[q].largest;
        totals[warp][q] = weighed[q].total;
    }
    __syncthreads();
    const unsigned stride = of.channels + 2;
    const auto partial_of = [&](unsigned q, unsigned piece) {
        return of.partial + ((std::size_t{image} * of.heads + first_query + q) * gridDim.y + piece) * stride;
    };
    const auto put = [&](unsigned q, unsigned c, const float3& all) {
        of.result[(std::size_t{image} * of.heads + first_query + q) * of.channels + c] = narrow<Element>(all.z / all.y);
    };
    for (unsigned k = threadIdx.x; k < there * of.channels; k += threads_per_block) {
        const unsigned q = k / of.channels, c = k % of.channels;
        const float3 all = joined(warps, [&](unsigned w) {
            return float3{largest[w][q], totals[w][q], sums[w][q][c]};
        });
        if (gridDim.y == 1) {
            put(q, c, all);
            continue;
        }
        float* const partial = partial_of(q, blockIdx.y);
        partial[c] = all.z;
        if (c != 0) continue;
        partial[of.channels] = all.x;
        partial[of.channels + 1] = all.y;
    }
    if (gridDim.y == 1 || !is_last(counters)) return;
    for (unsigned k = threadIdx.x; k < there * of.channels; k += threads_per_block) {
        const unsigned q = k / of.channels, c = k % of.channels;
        put(q, c, joined(gridDim.y, [&](unsigned piece) {
                const float* const one = partial_of(q, piece);
                return float3{load_past_l1(one + of.channels), load_past_l1(one + of.channels + 1),
                              load_past_l1(one + c)};
            }));
    }
}

template <class Element>
void launch(const Cached<Element>& of, unsigned caches, unsigned pieces, const Memory& memory, cudaStream_t stream)
{
    const auto run = [&](auto* kernel, unsigned queries) {
        const unsigned blocks = caches * ((of.group() + queries - 1) / queries);
        kernel<<<dim3(blocks, pieces), threads_per_block, 0, stream>>>(of, memory.counters());
    };
    if (of.channels % vector_width != 0)
        run(attend_cached<Element, false, most_queries>, most_queries);
    else if (of.group() == 1)
        run(attend_cached<Element, true, 1>, 1);
    else
        run(attend_cached<Element, true, most_queries>, most_queries);
    gpu::check(cudaGetLastError());
}

}  // namespace

int cached_attention_blocks()
{
    return static_cast<int>(resident_blocks(attend_cached<__nv_bfloat16, true, most_queries>, threads_per_block));
}

void enqueue(const AttendCached& operation, const Memory& memory, cudaStream_t stream)
{
    const auto heads = static_cast<unsigned>(operation.heads), kv_heads = static_cast<unsigned>(operation.kv_heads);
    const auto channels = static_cast<unsigned>(operation.result.channels) / heads;
    if (channels > most_channels_of_head)
        throw Unsupported("a head has too many channels for the kernels of this engine");
    if (operation.angles && operation.angles.channels % vector_width != 0)
        throw Unsupported("half a head is no whole vectors");
    unsigned sharing = 1;
    while (sharing * vector_width < channels) sharing *= 2;
    with_element(operation.source.precision, [&]<class Element>() {
        launch(Cached<Element>{memory.at<Element>(operation.source), memory.at<Element>(operation.cache),
                               memory.at<Element>(operation.result), memory.at<float>(operation.partial),
                               memory.at<float>(operation.angles), heads, kv_heads, channels,
                               static_cast<unsigned>(operation.cache.width), sharing,
                               1 / std::sqrt(static_cast<float>(channels))},
               static_cast<unsigned>(operation.source.batch) * kv_heads,
               operation.partial ? static_cast<unsigned>(operation.partial.height) : 1, memory, stream);
    });
}

}  // namespace roof::cudnn
