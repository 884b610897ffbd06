// Attention by plain loops: a warp for each query, or for each key, of each head. It keeps no matrix of positions by
// positions, and uses no tensor cores. The formulas are in engine/layers/attention.cpp.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"

#include <cmath>

namespace roof::cudnn {
namespace {

constexpr unsigned most_channels = 256;  ///< of a head
constexpr unsigned channels_each = most_channels / lanes;
constexpr float hidden = -1e30F;  ///< a score that weighs nothing
constexpr int blocks_at_once =
    2;  ///< on a multiprocessor: without a bound, ptxas 13.0 keeps to 48 registers and spills

/// Queries, keys and values, and a map of results or their gradients.
template <class Element>
struct Heads {
    const Element* source;
    const Element* map;
    std::uint32_t images, positions, heads, kv_heads, channels;
    float scale;
    bool causal;
    const Element* added;        ///< [rows][heads]; none: nothing is added to scores
    const std::int32_t* places;  ///< [windows or 1][queries][keys]
    std::uint32_t rows, sets;    ///< of the table; windows that have places of their own

    __device__ std::size_t row(std::uint32_t image, std::uint32_t position, std::uint32_t heads_there,
                               std::uint32_t head) const
    {
        return ((std::size_t{image} * positions + position) * heads_there + head) * channels;
    }
    /// The row that is added to a score; -1: the key is hidden.
    __device__ std::int32_t place(std::uint32_t image, std::uint32_t query, std::uint32_t key) const
    {
        return places[(std::size_t{image % sets} * positions + query) * positions + key];
    }
    /// Neighbouring heads of queries that read the same keys and values.
    __device__ std::uint32_t group() const { return heads / kv_heads; }
};

/// One position of one head.
template <class Element>
struct Item {
    const Heads<Element>& of;
    std::uint32_t image, head, position;

    /// The part of the queries, keys or values.
    __device__ std::size_t at(std::uint32_t there, std::uint32_t part) const
    {
        const std::uint32_t place = part == 0 ? head : of.heads + (part - 1) * of.kv_heads + head / of.group();
        return of.row(image, there, of.heads + 2 * of.kv_heads, place);
    }
    __device__ std::size_t in_map(std::uint32_t there) const { return of.row(image, there, of.heads, head); }
    /// Of what there is one number of for each position and head.
    __device__ std::size_t number(std::uint32_t there) const
    {
        return (std::size_t{image} * of.heads + head) * of.positions + there;
    }
    __device__ float dot(const Element* a, const Element* b) const
    {
        float sum = 0;
        for (std::uint32_t c = 0; c < of.channels; ++c) sum += widen(a[c]) * widen(b[c]);
        return sum;
    }
    /// The score of a query against a key.
    __device__ float score(std::uint32_t query, std::uint32_t key) const
    {
        const float score = dot(of.source + at(query, 0), of.source + at(key, 1)) * of.scale;
        if (of.added == nullptr) return score;
        const std::int32_t place = of.place(image, query, key);
        return place < 0 ? hidden : score + widen(of.added[static_cast<std::uint32_t>(place) * of.heads + head]);
    }
};

/// The channels of a thread: threadIdx.x, 32 more, ...
struct Channels {
    float of[channels_each] = {};

    template <class Element>
    __device__ void add(float factor, const Element* row, std::uint32_t channels)
    {
#pragma unroll
        for (unsigned i = 0; i < channels_each; ++i) {
            const unsigned c = threadIdx.x + i * lanes;
            if (c < channels) of[i] += factor * widen(row[c]);
        }
    }
    __device__ void scale(float by)
    {
#pragma unroll
        for (unsigned i = 0; i < channels_each; ++i) of[i] *= by;
    }
    template <class Element>
    __device__ void store(Element* row, std::uint32_t channels) const
    {
#pragma unroll
        for (unsigned i = 0; i < channels_each; ++i) {
            const unsigned c = threadIdx.x + i * lanes;
            if (c < channels) row[c] = narrow<Element>(of[i]);
        }
    }
};

/// Calls round(item) for each position of each head, or of the first of each `group` heads; a warp has one at a time.
template <class Element, class Round>
__device__ void for_items(const Heads<Element>& of, std::uint32_t group, const Round& round)
{
    const std::uint32_t heads = of.heads / group;
    const std::uint32_t items = of.images * heads * of.positions;
    for (std::uint32_t k = blockIdx.x * warps + threadIdx.y; k < items; k += gridDim.x * warps)
        round(Item<Element>{of, k / of.positions / heads, k / of.positions % heads * group, k % of.positions});
}

template <class Element>
__global__ void __launch_bounds__(threads_per_block, blocks_at_once)
    attend(Heads<Element> of, Element* result, float* sums)
{
    __shared__ float shared[threads_per_block];
    float* const line = shared + threadIdx.y * lanes;
    for_items(of, 1, [&](const Item<Element>& item) {
        const std::uint32_t end = of.causal ? item.position + 1 : of.positions;
        float largest = -INFINITY;
        float total = 0;
        Channels value;
        for (std::uint32_t first = 0; first < end; first += lanes) {
            const std::uint32_t key = first + threadIdx.x;
            const std::uint32_t count = min(lanes, end - first);
            const float score = key < end ? item.score(item.position, key) : -INFINITY;
            line[threadIdx.x] = score;
            __syncwarp();
            const float before = largest;
            for (std::uint32_t j = 0; j < count; ++j) largest = fmaxf(largest, line[j]);
            __syncwarp();
            line[threadIdx.x] = expf(score - largest);
            __syncwarp();
            const float factor = expf(before - largest);
            total *= factor;
            value.scale(factor);
            for (std::uint32_t j = 0; j < count; ++j) {
                total += line[j];
                value.add(line[j], of.source + item.at(first + j, 2), of.channels);
            }
            __syncwarp();
        }
        value.scale(1 / total);
        value.store(result + item.in_map(item.position), of.channels);
        if (threadIdx.x == 0) sums[item.number(item.position)] = largest + logf(total);
    });
}

/// What a query's score contributes to gradients: its weight, and the slope of the score.
template <class Element>
struct Slopes {
    const Element* result;
    const float* sums;
    const float* products;

    struct Both {
        float weight, slope;
    };
    __device__ Both at(const Item<Element>& item, std::uint32_t query, std::uint32_t key, float product) const
    {
        const Heads<Element>& of = item.of;
        const float weight = expf(item.score(query, key) - sums[item.number(query)]);
        const float given = item.dot(of.map + item.in_map(query), of.source + item.at(key, 2));
        return {weight, weight * (given - product) * of.scale};
    }
};

/// The gradient of the queries, and each query's result times its gradient.
template <class Element>
__global__ void __launch_bounds__(threads_per_block, blocks_at_once)
    query_gradients(Heads<Element> of, Slopes<Element> slopes, Element* to_source, float* products)
{
    __shared__ float shared[threads_per_block];
    float* const line = shared + threadIdx.y * lanes;
    for_items(of, 1, [&](const Item<Element>& item) {
        const std::uint32_t query = item.position;
        const std::uint32_t end = of.causal ? query + 1 : of.positions;
        const float product = item.dot(slopes.result + item.in_map(query), of.map + item.in_map(query));
        Channels sum;
        for (std::uint32_t first = 0; first < end; first += lanes) {
            const std::uint32_t key = first + threadIdx.x;
            if (key < end) line[threadIdx.x] = slopes.at(item, query, key, product).slope;
            __syncwarp();
            for (std::uint32_t j = 0; j < min(lanes, end - first); ++j)
                sum.add(line[j], of.source + item.at(first + j, 1), of.channels);
            __syncwarp();
        }
        sum.store(to_source + item.at(query, 0), of.channels);
        if (threadIdx.x == 0) products[item.number(query)] = product;
    });
}

/// The gradients of keys and values.
template <class Element>
__global__ void __launch_bounds__(threads_per_block, blocks_at_once)
    key_gradients(Heads<Element> of, Slopes<Element> slopes, Element* to_source)
{
    __shared__ float shared[2 * threads_per_block];
    float* const weights = shared + threadIdx.y * lanes;
    float* const line = shared + threads_per_block + threadIdx.y * lanes;
    for_items(of, of.group(), [&](const Item<Element>& first_head) {
        const std::uint32_t key = first_head.position;
        Channels to_key, to_value;
        for (Item<Element> item = first_head; item.head < first_head.head + of.group(); ++item.head) {
            for (std::uint32_t first = of.causal ? key : 0; first < of.positions; first += lanes) {
                const std::uint32_t query = first + threadIdx.x;
                if (query < of.positions) {
                    const auto both = slopes.at(item, query, key, slopes.products[item.number(query)]);
                    weights[threadIdx.x] = both.weight;
                    line[threadIdx.x] = both.slope;
                }
                __syncwarp();
                for (std::uint32_t j = 0; j < min(lanes, of.positions - first); ++j) {
                    to_key.add(line[j], of.source + item.at(first + j, 0), of.channels);
                    to_value.add(weights[j], of.map + item.in_map(first + j), of.channels);
                }
                __syncwarp();
            }
        }
        to_key.store(to_source + first_head.at(key, 1), of.channels);
        to_value.store(to_source + first_head.at(key, 2), of.channels);
    });
}

/// The gradient of the table: a warp sums a row of a head over all pairs to which it is added, each lane over some
/// images.
template <class Element>
__global__ void __launch_bounds__(threads_per_block, blocks_at_once)
    row_gradients(Heads<Element> of, Slopes<Element> slopes, float* to_rows)
{
    for (std::uint32_t k = blockIdx.x * warps + threadIdx.y; k < of.rows * of.heads; k += gridDim.x * warps) {
        float sum = 0;
        for (std::uint32_t image = threadIdx.x; image < of.images; image += lanes) {
            for (std::uint32_t pair = 0; pair < of.positions * of.positions; ++pair) {
                const std::uint32_t query = pair / of.positions, key = pair % of.positions;
                if (of.place(image, query, key) != static_cast<std::int32_t>(k / of.heads)) continue;
                const Item<Element> item{of, image, k % of.heads, query};
                sum += slopes.at(item, query, key, slopes.products[item.number(query)]).slope / of.scale;
            }
        }
        for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(~0U, sum, static_cast<int>(distance));
        if (threadIdx.x == 0) to_rows[k] = sum;
    }
}

template <class Element, class Operation>
Heads<Element> heads_of(const Operation& operation, const Tensor& map, const Memory& memory)
{
    const auto channels = static_cast<std::uint32_t>(map.channels / operation.heads);
    if (channels > most_channels)
        throw Unsupported("a head of attention has more than " + std::to_string(most_channels) + " channels");
    vectors_in(operation.source.elements(), 1);  // their numbers fit 32 bits
    const auto positions = static_cast<std::uint32_t>(map.height * map.width / operation.added.windows);
    const auto pairs = static_cast<std::uint32_t>(operation.added.places.elements());
    return {memory.at<Element>(operation.source),
            memory.at<Element>(map),
            static_cast<std::uint32_t>(map.batch * operation.added.windows),
            positions,
            static_cast<std::uint32_t>(operation.heads),
            static_cast<std::uint32_t>(operation.kv_heads),
            channels,
            1 / std::sqrt(static_cast<float>(channels)),
            operation.causal,
            memory.at<Element>(operation.added.rows),
            memory.at<std::int32_t>(operation.added.places),
            static_cast<std::uint32_t>(operation.added.rows.elements()) / static_cast<std::uint32_t>(operation.heads),
            pairs / positions / positions};
}

template <class Element, class... Arguments>
void launch(void (*kernel)(Heads<Element>, Arguments...), const Heads<Element>& of, cudaStream_t stream,
            Arguments... arguments)
{
    constexpr unsigned most_blocks = 1U << 16;
    const unsigned items = of.images * of.heads * of.positions;
    kernel<<<std::min(most_blocks, (items - 1) / warps + 1), dim3(lanes, warps), 0, stream>>>(of, arguments...);
    gpu::check(cudaGetLastError());
}

}  // namespace

void enqueue(const Attention& operation, const Memory& memory, cudaStream_t stream)
{
    with_element(operation.source.precision, [&]<class Element>() {
        launch(attend<Element>, heads_of<Element>(operation, operation.result, memory), stream,
               memory.at<Element>(operation.result), memory.at<float>(operation.sums));
    });
}

void enqueue(const AttentionGradient& operation, const Memory& memory, cudaStream_t stream)
{
    with_element(operation.source.precision, [&]<class Element>() {
        const Heads<Element> of = heads_of<Element>(operation, operation.gradient, memory);
        auto* const products = memory.at<float>(operation.products);
        const Slopes<Element> slopes{memory.at<Element>(operation.result), memory.at<float>(operation.sums), products};
        auto* const to_source = memory.at<Element>(operation.to_source);
        launch(query_gradients<Element>, of, stream, slopes, to_source, products);
        launch(key_gradients<Element>, of, stream, slopes, to_source);
        if (operation.to_rows) launch(row_gradients<Element>, of, stream, slopes, memory.at<float>(operation.to_rows));
    });
}

}  // namespace roof::cudnn
