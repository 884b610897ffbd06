// Sums per channel over all positions: statistics, and gradients of biases and batch norms. A block sums a slab of rows
// for some channels. The last block sums the slabs in order, so that results are bitwise reproducible in one launch.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/norm_channels.cuh"
#include "workloads/cudnn/kernels/pooling.cuh"
#include "workloads/cudnn/kernels/sums.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

/// On each of some 130 multiprocessors: slabs_of() makes about 256 blocks.
constexpr int blocks_each = 2;

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

/// Calls body.add(numbers, place, fetched, sums) for all rows, with numbers = body.of_channels(column) and fetched =
/// body.fetch_at(place), and body.finish(channel, sums) once per channel.
template <int width, class Body>
__global__ void __launch_bounds__(Body::threads, blocks_each)
    sum_rows(Body body, std::uint32_t rows, std::uint32_t vectors_per_row, float* partial, unsigned* counters)
{
    constexpr int numbers_each = width * Body::parts;
    __shared__ float shared[numbers_each * Body::threads];
    const std::uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_there = column < vectors_per_row;
    Totals<width, Body::parts> sums;
    if (is_there) {
        const auto numbers = body.of_channels(column);
        walk_rows<true>(body, rows, column, vectors_per_row,
                        [&](const Place& place, const auto& fetched) { body.add(numbers, place, fetched, sums); });
    }
    sum_lines<Body::threads>(sums, shared);
    // Threads side by side write and read numbers side by side.
    const auto place_of = [=](unsigned slab, int i) {
        return (std::size_t{slab} * numbers_each + static_cast<unsigned>(i)) * vectors_per_row + column;
    };
    if (is_there && threadIdx.y == 0) {
#pragma unroll
        for (int i = 0; i < numbers_each; ++i) partial[place_of(blockIdx.y, i)] = sums.of[i / width][i % width];
    }
    if (!is_last(counters)) return;

    Totals<width, Body::parts> totals;
#pragma unroll 1
    for (unsigned slab = threadIdx.y; is_there && slab < gridDim.y; slab += blockDim.y) {
#pragma unroll
        for (int i = 0; i < numbers_each; ++i)
            totals.of[i / width][i % width] += __ldcg(partial + place_of(slab, i));  // past the L1
    }
    sum_lines<Body::threads>(totals, shared);
    if (is_there && threadIdx.y == 0) {
#pragma unroll
        for (int i = 0; i < width; ++i) body.finish(column * width + static_cast<std::uint32_t>(i), totals, i);
    }
}

template <int width, class Body>
void launch_sums(const Tensor& summed, const Body& body, const Tensor& partial, const Memory& memory,
                 cudaStream_t stream)
{
    // Few columns: many last blocks, each with few slabs.
    constexpr unsigned most_columns = 8;
    const Columns cut = columns_for(summed, width, Body::threads, most_columns);
    if (cut.column_blocks > Program::counters_there)
        throw Unsupported("a layer has too many channels for the sums of this engine");
    const auto slabs = static_cast<unsigned>(slabs_of(summed.rows(), static_cast<std::size_t>(summed.channels)));
    const std::uint32_t vectors = vectors_in(summed.elements(), width);
    const auto rows = static_cast<std::uint32_t>(summed.rows());
    sum_rows<width><<<dim3(cut.column_blocks, slabs), dim3(cut.columns, cut.lines), 0, stream>>>(
        body, rows, vectors / rows, memory.at<float>(partial), memory.counters());
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
    NormChannels channels;

    static constexpr unsigned threads = 512;
    static constexpr int parts = 2;
    static constexpr std::uint32_t rows_at_once = 4;
    using Fetched = Stored<Element, width>;

    __device__ Lanes<width> of_channels(std::uint32_t column) const { return load<width>(source, column); }
    __device__ Fetched fetch_at(const Place& place) const { return fetch<width>(source, place.vector); }
    __device__ void add(const Lanes<width>& origin, const Place&, const Fetched& fetched,
                        Totals<width, parts>& sums) const
    {
        const Lanes<width> x = widened(fetched);
#pragma unroll
        for (int i = 0; i < width; ++i) {
            const Sums one = sums_of(x.lane[i], origin.lane[i]);
            sums.of[0][i] += one.first;
            sums.of[1][i] += one.second;
        }
    }

    __device__ void finish(std::uint32_t channel, const Totals<width, parts>& sums, int i) const
    {
        finish(channel, Sums{sums.of[0][i], sums.of[1][i]}, widen(source[channel]));
    }
    __device__ void finish(std::uint32_t channel, const Sums& sums, float origin) const
    {
        channels.write(channel, moments_of(static_cast<double>(sums.first), static_cast<double>(sums.second), origin,
                                           channels.count));
    }
};

/// As the end of a sum, with the sums of a convolution.
template <class Element>
__global__ void finish_statistics(StatisticsBody<Element, 1> body, const float* sum, const float* squares,
                                  std::uint32_t channels)
{
    const std::uint32_t channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel < channels) body.finish(channel, Sums{sum[channel], squares[channel]}, 0.0F);
}

/// What a reduction of gradients does beside the sums of the gradient.
enum class Beside { nothing, stores, masks_by_source };

/// A batch norm whose gradients are summed.
template <class Element>
struct SummedNorm {
    const Element* source;  ///< null: none
    ChannelPointers channels;
    float* products;
};

template <class Element, int width, class Given, Beside beside, int norms>
struct GradientBody {
    Given given;
    SummedNorm<Element> norm[norms];
    Element* result;
    float* sum[norms];

    struct Numbers {
        Lanes<width> mean[norms];
        Scaling<width> scaling;
    };
    __device__ Numbers of_channels(std::uint32_t column) const
    {
        const bool masks = beside == Beside::masks_by_source;
        Numbers numbers{{}, {masks ? norm[0].channels.scale : nullptr, norm[0].channels.shift, column}};
#pragma unroll
        for (int n = 0; n < norms; ++n)
            if (norm[n].source != nullptr) numbers.mean[n] = load<width>(norm[n].channels.mean, column);
        return numbers;
    }

    static constexpr unsigned threads = 256;
    static constexpr int parts = 1 + norms;
    static constexpr std::uint32_t rows_at_once = Given::is_gathered || norms > 1     ? 1
                                                  : beside == Beside::masks_by_source ? 4
                                                                                      : 2;
    struct Fetched {
        typename Given::Parts given;
        Stored<Element, width> source[norms];
    };

    __device__ Fetched fetch_at(const Place& place) const
    {
        Fetched fetched;
        fetched.given = given.fetch_at(place);
#pragma unroll
        for (int n = 0; n < norms; ++n)
            if (norm[n].source != nullptr) fetched.source[n] = fetch<width>(norm[n].source, place.vector);
        return fetched;
    }

    __device__ void add(const Numbers& numbers, const Place& place, const Fetched& fetched,
                        Totals<width, parts>& sums) const
    {
        Lanes<width> g = given.gradient_of(fetched.given);
        if constexpr (beside == Beside::stores) {
            // Sum the rounded values, because later kernels read those.
            store(result, place.vector, g);
            g.template round<Element>();
        }
        if constexpr (beside == Beside::masks_by_source)
            numbers.scaling.template mask<Element>(g, widened(fetched.source[0]));
#pragma unroll
        for (int i = 0; i < width; ++i) sums.of[0][i] += g.lane[i];
#pragma unroll
        for (int n = 0; n < norms; ++n) {
            if (norm[n].source == nullptr) continue;
            const Lanes<width> x = widened(fetched.source[n]);
#pragma unroll
            for (int i = 0; i < width; ++i) sums.of[1 + n][i] += g.lane[i] * (x.lane[i] - numbers.mean[n].lane[i]);
        }
    }

    __device__ void finish(std::uint32_t channel, const Totals<width, parts>& sums, int i) const
    {
#pragma unroll
        for (int n = 0; n < norms; ++n) {
            sum[n][channel] = sums.of[0][i];
            if (norm[n].products != nullptr)
                norm[n].products[channel] = sums.of[1 + n][i] * norm[n].channels.inverse[channel];
        }
    }
};

template <class Element, class Operation>
SummedNorm<Element> norm_of(const Operation& operation, const Memory& memory)
{
    return {memory.at<Element>(operation.source),
            {memory.at<float>(operation.channels.mean), memory.at<float>(operation.channels.inverse_deviation),
             memory.at<float>(operation.channels.scale), memory.at<float>(operation.channels.shift)},
            memory.at<float>(operation.sum_of_products)};
}

}  // namespace

void enqueue(const Statistics& operation, const Memory& memory, cudaStream_t stream)
{
    const auto body_of = [&]<class Element, int width>() {
        return StatisticsBody<Element, width>{memory.at<Element>(operation.source),
                                              norm_channels_of(operation, operation.source.rows(), memory)};
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
    const Tensor& summed = operation.winners ? operation.source : operation.share;
    with_vectors(summed, [&]<class Element, int width>() {
        const auto launch = [&]<Beside beside, int norms>(const auto& given) {
            GradientBody<Element, width, std::decay_t<decltype(given)>, beside, norms> body{
                given,
                {norm_of<Element>(operation, memory)},
                memory.at<Element>(operation.result),
                {memory.at<float>(operation.sum)}};
            if constexpr (norms > 1) {
                body.norm[1] = norm_of<Element>(operation.other_norm, memory);
                body.sum[1] = memory.at<float>(operation.other_norm.sum);
            }
            launch_sums<width>(summed, body, operation.partial, memory, stream);
        };
        const Element* const share = memory.at<Element>(operation.share);
        const Element* const other = memory.at<Element>(operation.other_share);
        if (operation.winners) {
            const auto* const winners = memory.at<std::uint8_t>(operation.winners);
            return with_window<width>(
                shape_of(operation.source, operation.share, operation.window), [&](const auto& window) {
                    launch.template operator()<Beside::masks_by_source, 1>(
                        PooledGradient<Element, width, std::decay_t<decltype(window)>>{window, share, winners});
                });
        }
        if constexpr (width == signs_per_byte) {
            if (operation.signs) {
                const GivenGradient<Element, width, Masking::by_signs> given{
                    .share = share, .other = other, .signs = memory.at<std::uint8_t>(operation.signs)};
                return operation.other_norm.sum ? launch.template operator()<Beside::stores, 2>(given)
                                                : launch.template operator()<Beside::stores, 1>(given);
            }
        }
        if (operation.relu)
            return launch.template operator()<Beside::masks_by_source, 1>(
                GivenGradient<Element, width, Masking::none>{.share = share});
        const GivenGradient<Element, width, Masking::by_output> given{
            .share = share, .other = other, .output = memory.at<Element>(operation.output)};
        operation.result ? launch.template operator()<Beside::stores, 1>(given)
                         : launch.template operator()<Beside::nothing, 1>(given);
    });
}

}  // namespace roof::cudnn
