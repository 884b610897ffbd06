// Sums per channel over all positions: statistics, and gradients of biases and batch norms. A block sums a slab of rows
// for some channels. The last block sums the slabs in order, so that results are bitwise reproducible in one launch.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

/// On each of some 130 multiprocessors: slabs_of() makes about 256 blocks.
constexpr int blocks_each = 2;

/// Sums over the lines of a block. The first line gets the result.
template <unsigned threads, int width>
__device__ void sum_lines(Sums (&sums)[width], Sums* shared)
{
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
#pragma unroll
        for (int i = 0; i < width; ++i) shared[static_cast<unsigned>(i) * threads + thread] = sums[i];
        __syncthreads();
        if (threadIdx.y < half) {
#pragma unroll
            for (int i = 0; i < width; ++i)
                sums[i].add(shared[static_cast<unsigned>(i) * threads + thread + half * blockDim.x]);
        }
        __syncthreads();
    }
}

/// Returns true in the last block of its column that calls it. That block sees the writes of the others.
__device__ bool is_last(unsigned* counters)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        last = atomicAdd(counters + blockIdx.x, 1U) == gridDim.y - 1;
        if (last) counters[blockIdx.x] = 0;
    }
    __syncthreads();
    if (last) __threadfence();
    return last;
}

/// Reads a value that another block wrote: from L2, bypassing L1.
__device__ Sums seen(const Sums* at)
{
    const float2 pair = __ldcg(reinterpret_cast<const float2*>(at));
    return {pair.x, pair.y};
}

/// Calls body.add(numbers, vector, body.fetch_at(vector), sums) for all rows, with numbers = body.of_channels(column), and
/// body.finish(channel, sums) once per channel. The loads of Body::rows_at_once rows are on the way
/// together, and in the last block those of Body::slabs_at_once slabs.
template <int width, class Body>
__global__ void __launch_bounds__(Body::threads, blocks_each)
    sum_rows(Body body, std::uint32_t rows, std::uint32_t vectors_per_row, Sums* partial, unsigned* counters)
{
    __shared__ Sums shared[width * Body::threads];
    const std::uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_there = column < vectors_per_row;
    Sums sums[width];
    if (is_there) {
        const auto numbers = body.of_channels(column);
        const auto begin = static_cast<std::uint32_t>(std::uint64_t{rows} * blockIdx.y / gridDim.y);
        const auto end = static_cast<std::uint32_t>(std::uint64_t{rows} * (blockIdx.y + 1) / gridDim.y);
        const std::uint32_t step = blockDim.y * vectors_per_row;
        std::uint32_t k = (begin + threadIdx.y) * vectors_per_row + column;
        const std::uint32_t beyond = end * vectors_per_row;
#pragma unroll 1
        for (; k + (Body::rows_at_once - 1) * step < beyond; k += Body::rows_at_once * step) {
            typename Body::Fetched fetched[Body::rows_at_once];
#pragma unroll
            for (std::uint32_t i = 0; i < Body::rows_at_once; ++i) fetched[i] = body.fetch_at(k + i * step);
#pragma unroll
            for (std::uint32_t i = 0; i < Body::rows_at_once; ++i) body.add(numbers, k + i * step, fetched[i], sums);
        }
#pragma unroll 1
        for (; k < beyond; k += step) body.add(numbers, k, body.fetch_at(k), sums);
    }
    sum_lines<Body::threads>(sums, shared);
    if (is_there && threadIdx.y == 0) {
#pragma unroll
        for (int i = 0; i < width; ++i)
            partial[(std::size_t{blockIdx.y} * vectors_per_row + column) * width + static_cast<std::size_t>(i)] =
                sums[i];
    }
    if (!is_last(counters)) return;

    Sums totals[width];
#pragma unroll 1
    for (unsigned first = threadIdx.y; is_there && first < gridDim.y; first += Body::slabs_at_once * blockDim.y) {
        Sums found[Body::slabs_at_once][width];
#pragma unroll
        for (unsigned j = 0; j < Body::slabs_at_once; ++j) {
            const unsigned slab = first + j * blockDim.y;
            if (slab >= gridDim.y) continue;
#pragma unroll
            for (int i = 0; i < width; ++i)
                found[j][i] = seen(partial + (std::size_t{slab} * vectors_per_row + column) * width + i);
        }
#pragma unroll
        for (unsigned j = 0; j < Body::slabs_at_once; ++j) {
#pragma unroll
            for (int i = 0; i < width; ++i) totals[i].add(found[j][i]);
        }
    }
    sum_lines<Body::threads>(totals, shared);
    if (is_there && threadIdx.y == 0) {
#pragma unroll
        for (int i = 0; i < width; ++i) body.finish(column * width + static_cast<std::uint32_t>(i), totals[i]);
    }
}

template <int width, class Body>
void launch_sums(const Tensor& summed, const Body& body, const Tensor& partial, const Memory& memory,
                 cudaStream_t stream)
{
    const Columns cut = columns_for(summed, width, Body::threads);
    if (cut.column_blocks > Program::counters_there)
        throw Unsupported("a layer has too many channels for the sums of this engine");
    const auto slabs = static_cast<unsigned>(slabs_of(summed.rows(), static_cast<std::size_t>(summed.channels)));
    const std::uint32_t vectors = vectors_in(summed.elements(), width);
    const auto rows = static_cast<std::uint32_t>(summed.rows());
    sum_rows<width><<<dim3(cut.column_blocks, slabs), dim3(cut.columns, cut.lines), 0, stream>>>(
        body, rows, vectors / rows, memory.at<Sums>(partial), memory.counters());
    gpu::check(cudaGetLastError());
}

struct ChannelPointers {
    const float* mean;
    const float* inverse;
    const float* scale;
    const float* shift;
};

template <class Element, int width>
struct StatisticsBody {
    const Element* source;
    const float* weight;
    const float* bias;
    float* mean;
    float* inverse;
    float* scale;
    float* shift;
    float* running_mean;
    float* running_variance;
    double count;

    static constexpr unsigned threads = 512;
    static constexpr unsigned slabs_at_once = 2;
    static constexpr std::uint32_t rows_at_once = 4;
    using Fetched = Stored<Element, width>;

    __device__ Lanes<width> of_channels(std::uint32_t column) const { return load<width>(source, column); }
    __device__ Fetched fetch_at(std::uint32_t k) const { return fetch<width>(source, k); }
    __device__ void add(const Lanes<width>& origin, std::uint32_t, const Fetched& fetched, Sums (&sums)[width]) const
    {
        const Lanes<width> x = widened(fetched);
#pragma unroll
        for (int i = 0; i < width; ++i) sums[i].add(sums_of(x.lane[i], origin.lane[i]));
    }

    __device__ void finish(std::uint32_t channel, const Sums& sums) const
    {
        finish(channel, sums, widen(source[channel]));
    }
    __device__ void finish(std::uint32_t channel, const Sums& sums, float origin) const
    {
        const Moments found =
            moments_of(static_cast<double>(sums.first), static_cast<double>(sums.second), origin, count);
        const float deviation = 1 / sqrtf(found.variance + engine::batch_norm_epsilon);
        mean[channel] = found.mean;
        inverse[channel] = deviation;
        scale[channel] = weight[channel] * deviation;
        shift[channel] = bias[channel] - found.mean * (weight[channel] * deviation);
        running_mean[channel] = running(running_mean[channel], found.mean);
        running_variance[channel] = running(running_variance[channel], unbiased(found.variance, count));
    }
};

/// As the end of a sum, with the sums of a convolution.
template <class Element>
__global__ void finish_statistics(StatisticsBody<Element, 1> body, const float* sum, const float* squares,
                                  std::uint32_t channels)
{
    const std::uint32_t channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel < channels) body.finish(channel, {sum[channel], squares[channel]}, 0);
}

/// What a reduction of gradients does beside the sums of the gradient.
enum class Beside { nothing, stores, masks_by_source };

template <class Element, int width, Beside beside>
struct GradientBody {
    GivenGradient<Element, width> given;
    const Element* source;
    ChannelPointers channels;
    Element* result;
    float* sum;
    float* products;

    struct Numbers {
        Lanes<width> mean;
        Scaling<width> scaling;
    };
    __device__ Numbers of_channels(std::uint32_t column) const
    {
        const bool masks = beside == Beside::masks_by_source;
        return {source != nullptr ? load<width>(channels.mean, column) : Lanes<width>{},
                {masks ? channels.scale : nullptr, channels.shift, column}};
    }

    static constexpr unsigned threads = 256;
    static constexpr unsigned slabs_at_once = 4;
    static constexpr std::uint32_t rows_at_once = 2;
    struct Fetched {
        typename GivenGradient<Element, width>::Parts given;
        Stored<Element, width> source;
    };

    __device__ Fetched fetch_at(std::uint32_t k) const
    {
        Fetched fetched;
        fetched.given = given.fetch_at(k);
        if (source != nullptr) fetched.source = fetch<width>(source, k);
        return fetched;
    }

    __device__ void add(const Numbers& numbers, std::uint32_t k, const Fetched& fetched, Sums (&sums)[width]) const
    {
        Lanes<width> g = given.gradient_of(fetched.given);
        if constexpr (beside == Beside::stores) {
            // Sum the rounded values, because later kernels read those.
            store(result, k, g);
            g.template round<Element>();
        }
        if (source == nullptr) {
#pragma unroll
            for (int i = 0; i < width; ++i) sums[i].first += g.lane[i];
            return;
        }
        const Lanes<width> x = widened(fetched.source);
        if constexpr (beside == Beside::masks_by_source) numbers.scaling.template mask<Element>(g, x);
#pragma unroll
        for (int i = 0; i < width; ++i) sums[i].add({g.lane[i], g.lane[i] * (x.lane[i] - numbers.mean.lane[i])});
    }

    __device__ void finish(std::uint32_t channel, const Sums& sums) const
    {
        sum[channel] = sums.first;
        if (products != nullptr) products[channel] = sums.second * channels.inverse[channel];
    }
};

}  // namespace

void enqueue(const Statistics& operation, const Memory& memory, cudaStream_t stream)
{
    const auto body_of = [&]<class Element, int width>() {
        return StatisticsBody<Element, width>{memory.at<Element>(operation.source),
                                              memory.at<float>(operation.weight),
                                              memory.at<float>(operation.bias),
                                              memory.at<float>(operation.channels.mean),
                                              memory.at<float>(operation.channels.inverse_deviation),
                                              memory.at<float>(operation.channels.scale),
                                              memory.at<float>(operation.channels.shift),
                                              memory.at<float>(operation.running_mean),
                                              memory.at<float>(operation.running_variance),
                                              static_cast<double>(operation.source.rows())};
    };
    if (operation.sum) {
        const auto channels = static_cast<std::uint32_t>(operation.source.channels);
        return with_element(operation.source.precision, [&]<class Element>() {
            finish_statistics<<<(channels - 1) / threads_per_block + 1, threads_per_block, 0, stream>>>(
                body_of.template operator()<Element, 1>(), memory.at<float>(operation.sum),
                memory.at<float>(operation.squares), channels);
            gpu::check(cudaGetLastError());
        });
    }
    with_vectors(operation.source, [&]<class Element, int width>() {
        launch_sums<width>(operation.source, body_of.template operator()<Element, width>(), operation.partial, memory,
                           stream);
    });
}

void enqueue(const ReduceGradient& operation, const Memory& memory, cudaStream_t stream)
{
    with_vectors(operation.share, [&]<class Element, int width>() {
        const auto launch = [&]<Beside beside>() {
            const GradientBody<Element, width, beside> body{
                {memory.at<Element>(operation.share), memory.at<Element>(operation.other_share),
                 memory.at<Element>(operation.output), memory.at<std::uint8_t>(operation.signs)},
                memory.at<Element>(operation.source),
                {memory.at<float>(operation.channels.mean), memory.at<float>(operation.channels.inverse_deviation),
                 memory.at<float>(operation.channels.scale), memory.at<float>(operation.channels.shift)},
                memory.at<Element>(operation.result),
                memory.at<float>(operation.sum),
                memory.at<float>(operation.sum_of_products)};
            launch_sums<width>(operation.share, body, operation.partial, memory, stream);
        };
        if (operation.result) return launch.template operator()<Beside::stores>();
        if (operation.relu) return launch.template operator()<Beside::masks_by_source>();
        launch.template operator()<Beside::nothing>();
    });
}

}  // namespace roof::cudnn
