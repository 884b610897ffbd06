// Layer and RMS norm: the threads of a line share the channels of a position and keep them in registers, so that each
// map is read once. A block of the gradient also sums over its positions for each channel; a second kernel adds the
// sums of the blocks, in their order.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/sums.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

constexpr unsigned warp = 32;
constexpr int few = 4, many = 16;  ///< vectors of a position that a thread keeps

constexpr auto too_many = "a norm has too many channels for the kernels of this engine";

/// Mean and inverse deviation of each position. An RMS norm has no mean.
struct PositionNumbers {
    float* mean;
    float* inverse;

    __device__ float mean_of(std::uint32_t row) const { return mean == nullptr ? 0 : mean[row]; }
};

/// Calls call(k, column) for each vector of a position that the thread keeps, its k-th. `vectors`: of a position; 0 in
/// a line without a position.
template <int kept, class Call>
__device__ void for_kept(std::uint32_t vectors, const Call& call)
{
#pragma unroll
    for (int k = 0; k < kept; ++k) {
        const std::uint32_t column = threadIdx.x + static_cast<std::uint32_t>(k) * blockDim.x;
        if (column < vectors) call(k, column);
    }
}

/// Sums over the threads of a line, which all get them. All threads of the block call it.
template <int count>
__device__ void sum_over_line(float (&sums)[count])
{
    __shared__ float shared[count][warps];
#pragma unroll
    for (int i = 0; i < count; ++i) {
#pragma unroll
        for (int distance = warp / 2; distance > 0; distance /= 2) sums[i] += __shfl_xor_sync(~0U, sums[i], distance);
    }
    if (blockDim.x == warp) return;
    const unsigned own = (threadIdx.y * blockDim.x + threadIdx.x) / warp;
    const unsigned each = blockDim.x / warp;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < count; ++i) {
        if (threadIdx.x % warp == 0) shared[i][own] = sums[i];
        sums[i] = 0;
    }
    __syncthreads();
    for (unsigned of = own / each * each; of < (own / each + 1) * each; ++of)
#pragma unroll
        for (int i = 0; i < count; ++i) sums[i] += shared[i][of];
}

template <class Element, int width>
struct Forward {
    const Element *source, *other;  ///< of a sum
    Element* sum;
    const float *weight, *bias;
    PositionNumbers numbers;
    Element* result;
    float epsilon;
};

template <class Element, int width, int kept, bool sums>
__global__ void __launch_bounds__(threads_per_block, 1)
    normalise_positions(Forward<Element, width> of, std::uint32_t rows, std::uint32_t vectors)
{
    const auto channels = static_cast<float>(vectors * width);
    for (std::uint32_t first = blockIdx.x * blockDim.y; first < rows; first += gridDim.x * blockDim.y) {
        const std::uint32_t row = first + threadIdx.y;
        const std::uint32_t there = row < rows ? vectors : 0;
        Stored<Element, width> x[kept];
        for_kept<kept>(there, [&](int k, std::uint32_t c) { x[k] = fetch<width>(of.source, row * vectors + c); });
        if constexpr (sums) {
            for_kept<kept>(there, [&](int k, std::uint32_t c) {
                Lanes<width> sum = widened(x[k]);
                sum.add(load<width>(of.other, row * vectors + c));
                x[k] = store(of.sum, row * vectors + c, sum);
            });
        }
        float mean[1] = {};
        if (of.numbers.mean != nullptr) {
            for_kept<kept>(there, [&](int k, std::uint32_t) {
                const Lanes<width> values = widened(x[k]);
#pragma unroll
                for (int i = 0; i < width; ++i) mean[0] += values.lane[i];
            });
            sum_over_line(mean);
            mean[0] /= channels;
        }
        float squares[1] = {};
        for_kept<kept>(there, [&](int k, std::uint32_t) {
            const Lanes<width> values = widened(x[k]);
#pragma unroll
            for (int i = 0; i < width; ++i) squares[0] += (values.lane[i] - mean[0]) * (values.lane[i] - mean[0]);
        });
        sum_over_line(squares);
        const float inverse = 1 / sqrtf(squares[0] / channels + of.epsilon);
        for_kept<kept>(there, [&](int k, std::uint32_t c) {
            Lanes<width> y = widened(x[k]);
            const Lanes<width> weight = load<width>(of.weight, c);
#pragma unroll
            for (int i = 0; i < width; ++i) y.lane[i] = (y.lane[i] - mean[0]) * inverse * weight.lane[i];
            if (of.bias != nullptr) y.add(load<width>(of.bias, c));
            store(of.result, row * vectors + c, y);
        });
        if (threadIdx.x != 0 || there == 0) continue;
        if (of.numbers.mean != nullptr) of.numbers.mean[row] = mean[0];
        of.numbers.inverse[row] = inverse;
    }
}

template <class Element, int width>
struct Backward {
    const Element *gradient, *source;
    const float* weight;
    PositionNumbers numbers;
    Element* result;
};

/// `partial`: [blocks along y][2][lanes of a vector][vectors], the sums of the gradients, then of the gradients times
/// the normalised values.
template <class Element, int width, int kept>
__global__ void __launch_bounds__(threads_per_block)
    gradients_of_positions(Backward<Element, width> of, std::uint32_t rows, std::uint32_t vectors, float* partial)
{
    constexpr int parts = 2;
    __shared__ float shared[parts * width * threads_per_block];
    const auto channels = static_cast<float>(vectors * width);
    Totals<width, parts> totals[kept];
    for (std::uint32_t first = blockIdx.y * blockDim.y; first < rows; first += gridDim.y * blockDim.y) {
        const std::uint32_t row = first + threadIdx.y;
        const std::uint32_t there = row < rows ? vectors : 0;
        const float mean = there == 0 ? 0 : of.numbers.mean_of(row);
        const float inverse = there == 0 ? 0 : of.numbers.inverse[row];
        Stored<Element, width> g[kept], x[kept];
        for_kept<kept>(there, [&](int k, std::uint32_t c) {
            g[k] = fetch<width>(of.gradient, row * vectors + c);
            x[k] = fetch<width>(of.source, row * vectors + c);
        });
        float sums[parts] = {};  // of the normalised values' gradients, and of these times the values
        for_kept<kept>(there, [&](int k, std::uint32_t c) {
            const Lanes<width> given = widened(g[k]);
            const Lanes<width> values = widened(x[k]);
            const Lanes<width> weight = load<width>(of.weight, c);
#pragma unroll
            for (int i = 0; i < width; ++i) {
                const float normal = (values.lane[i] - mean) * inverse;
                totals[k].of[0][i] += given.lane[i];
                totals[k].of[1][i] += given.lane[i] * normal;
                sums[0] += given.lane[i] * weight.lane[i];
                sums[1] += given.lane[i] * weight.lane[i] * normal;
            }
        });
        sum_over_line(sums);
        const float offset = of.numbers.mean == nullptr ? 0 : sums[0] / channels;
        const float slope = sums[1] / channels;
        for_kept<kept>(there, [&](int k, std::uint32_t c) {
            Lanes<width> to = widened(g[k]);
            const Lanes<width> values = widened(x[k]);
            const Lanes<width> weight = load<width>(of.weight, c);
#pragma unroll
            for (int i = 0; i < width; ++i)
                to.lane[i] =
                    inverse * (to.lane[i] * weight.lane[i] - offset - (values.lane[i] - mean) * inverse * slope);
            store(of.result, row * vectors + c, to);
        });
    }
#pragma unroll
    for (int k = 0; k < kept; ++k) {
        sum_lines<threads_per_block>(totals[k], shared);
        const std::uint32_t column = threadIdx.x + static_cast<std::uint32_t>(k) * blockDim.x;
        if (threadIdx.y != 0 || column >= vectors) continue;
#pragma unroll
        for (int i = 0; i < parts * width; ++i)
            partial[(std::size_t{blockIdx.y} * parts * width + static_cast<unsigned>(i)) * vectors + column] =
                totals[k].of[i / width][i % width];
    }
}

/// Adds the blocks' sums: `of_bias` (null: none) and `of_weight` of each channel.
template <int width>
__global__ void __launch_bounds__(threads_per_block)
    add_blocks(const float* partial, std::uint32_t blocks, std::uint32_t vectors, float* of_bias, float* of_weight)
{
    __shared__ float shared[threads_per_block];
    const std::uint32_t numbers = 2 * width * vectors;
    for (std::uint32_t first = blockIdx.x * blockDim.x; first < numbers; first += gridDim.x * blockDim.x) {
        const std::uint32_t at = first + threadIdx.x;
        Totals<1, 1> total;
#pragma unroll 8
        for (std::uint32_t block = threadIdx.y; block < blocks; block += blockDim.y)
            if (at < numbers) total.of[0][0] += partial[std::size_t{block} * numbers + at];
        sum_lines<threads_per_block>(total, shared);
        const std::uint32_t lane = at / vectors;
        float* const to = lane < width ? of_bias : of_weight;
        if (threadIdx.y == 0 && at < numbers && to != nullptr) to[at % vectors * width + lane % width] = total.of[0][0];
    }
}

/// Calls call<kept>(threads) with the threads of a block, (channels, positions): as many for a position as keep its
/// vectors in registers, and more where the positions are too few for all multiprocessors, as in decoding. Throws
/// Unsupported where a block cannot keep a position.
template <class Call>
void with_lines(const Tensor& map, int width, const Call& call)
{
    constexpr std::size_t enough_threads = 1U << 16;
    const auto vectors = static_cast<unsigned>(map.channels / width);
    unsigned lanes = warp;
    while (lanes < threads_per_block && lanes < vectors &&
           (lanes * few < vectors || map.rows() * lanes < enough_threads))
        lanes *= 2;
    const dim3 threads(lanes, threads_per_block / lanes);
    if (vectors <= lanes * few) return call.template operator()<few>(threads);
    if (vectors > lanes * many) throw Unsupported(too_many);
    call.template operator()<many>(threads);
}

template <class Operation>
PositionNumbers numbers_of(const Operation& operation, const Memory& memory)
{
    return {memory.at<float>(operation.mean), memory.at<float>(operation.inverse_deviation)};
}

}  // namespace

void enqueue(const LayerNorm& operation, const Memory& memory, cudaStream_t stream)
{
    constexpr unsigned most_blocks = 1U << 16;
    const auto rows = static_cast<std::uint32_t>(operation.source.rows());
    with_vectors(operation.source, [&]<class Element, int width>() {
        const Forward<Element, width> of{memory.at<Element>(operation.source), memory.at<Element>(operation.other),
                                         memory.at<Element>(operation.sum),    memory.at<float>(operation.weight),
                                         memory.at<float>(operation.bias),     numbers_of(operation, memory),
                                         memory.at<Element>(operation.result), operation.epsilon};
        with_lines(operation.source, width, [&]<int kept>(const dim3& threads) {
            const auto run = [&](auto* kernel) {
                kernel<<<std::min(most_blocks, (rows - 1) / threads.y + 1), threads, 0, stream>>>(
                    of, rows, vectors_in(operation.source.elements(), width) / rows);
                gpu::check(cudaGetLastError());
            };
            operation.other ? run(normalise_positions<Element, width, kept, true>)
                            : run(normalise_positions<Element, width, kept, false>);
        });
    });
}

void enqueue(const LayerNormGradient& operation, const Memory& memory, cudaStream_t stream)
{
    const auto rows = static_cast<std::uint32_t>(operation.source.rows());
    const auto blocks = static_cast<unsigned>(operation.partial.batch);
    auto* const partial = memory.at<float>(operation.partial);
    with_vectors(operation.source, [&]<class Element, int width>() {
        const std::uint32_t vectors = vectors_in(operation.source.elements(), width) / rows;
        const Backward<Element, width> of{memory.at<Element>(operation.gradient), memory.at<Element>(operation.source),
                                          memory.at<float>(operation.weight), numbers_of(operation, memory),
                                          memory.at<Element>(operation.result)};
        with_lines(operation.source, width, [&]<int kept>(const dim3& threads) {
            if constexpr (kept > few) throw Unsupported(too_many);  // its sums would need more registers than there are
            gradients_of_positions<Element, width, few>
                <<<dim3(1, blocks), threads, 0, stream>>>(of, rows, vectors, partial);
            gpu::check(cudaGetLastError());
        });
        add_blocks<width><<<(2 * width * vectors - 1) / warp + 1, dim3(warp, warps), 0, stream>>>(
            partial, blocks, vectors, memory.at<float>(operation.sum), memory.at<float>(operation.sum_of_products));
        gpu::check(cudaGetLastError());
    });
}

}  // namespace roof::cudnn
