// What is between the products of attention by whole matrices (library/attention_products.cpp): a warp for each query
// of each head. Weights and slopes are written over the scores and slopes that they are found from, at the begin of
// each row.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"

#include <cfloat>
#include <cmath>

namespace roof::cudnn {
namespace {

/// Scores of some heads of an image, [heads][queries][keys], and the logarithm of each query's sum, [heads of an image]
/// [queries].
template <class Element>
struct Scores {
    float* scores;
    float* slopes;
    float* sums;
    const Element *result, *gradient;  ///< [queries][heads of an image][channels]
    std::uint32_t heads, of_image, first_head, positions, channels;
    float scale;
    bool causal;

    __device__ std::uint32_t head(std::uint32_t row) const { return first_head + row / positions * (of_image / heads); }
    __device__ std::uint32_t end(std::uint32_t row) const { return causal ? row % positions + 1 : positions; }
    __device__ float& sum(std::uint32_t row) const
    {
        return sums[std::size_t{head(row)} * positions + row % positions];
    }
    __device__ std::size_t in_map(std::uint32_t row) const
    {
        return (std::size_t{row % positions} * of_image + head(row)) * channels;
    }
};

/// Calls round(row) for each row; a warp has one at a time.
template <class Element, class Round>
__device__ void for_rows(const Scores<Element>& of, const Round& round)
{
    for (std::uint32_t row = blockIdx.x * warps + threadIdx.y; row < of.heads * of.positions; row += gridDim.x * warps)
        round(row);
}

/// The sum over the lanes of a warp.
__device__ float sum_of_lanes(float value)
{
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(~0U, value, static_cast<int>(distance));
    return value;
}

/// Writes numbers over the row that they are found from: those of 32 keys at a time, when all of them are read. They
/// are no longer than the scores, so they end before the next 32 begin.
template <class Element>
__device__ void put(float* row, std::uint32_t key, std::uint32_t positions, float value)
{
    if (key < positions) reinterpret_cast<Element*>(row)[key] = narrow<Element>(value);
}

template <class Element>
__global__ void __launch_bounds__(threads_per_block) weigh(Scores<Element> of)
{
    for_rows(of, [&](std::uint32_t number) {
        float* const row = of.scores + std::size_t{number} * of.positions;
        const std::uint32_t end = of.end(number);
        float largest = -FLT_MAX;
        for (std::uint32_t key = threadIdx.x; key < end; key += lanes) largest = fmaxf(largest, row[key] * of.scale);
        for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, static_cast<int>(distance)));
        float total = 0;
        for (std::uint32_t key = threadIdx.x; key < end; key += lanes) total += expf(row[key] * of.scale - largest);
        const float sum = largest + logf(sum_of_lanes(total));
        if (threadIdx.x == 0) of.sum(number) = sum;
        for (std::uint32_t first = 0; first < of.positions; first += lanes) {
            const std::uint32_t key = first + threadIdx.x;
            const float weight = key < end ? expf(row[key] * of.scale - sum) : 0;
            __syncwarp();
            put<Element>(row, key, of.positions, weight);
        }
    });
}

template <class Element>
__global__ void __launch_bounds__(threads_per_block) slope(Scores<Element> of)
{
    for_rows(of, [&](std::uint32_t number) {
        float* const row = of.scores + std::size_t{number} * of.positions;
        float* const slopes = of.slopes + std::size_t{number} * of.positions;
        const std::uint32_t end = of.end(number);
        float product = 0;
        for (std::uint32_t c = threadIdx.x; c < of.channels; c += lanes)
            product += widen(of.result[of.in_map(number) + c]) * widen(of.gradient[of.in_map(number) + c]);
        product = sum_of_lanes(product);
        const float sum = of.sum(number);
        for (std::uint32_t first = 0; first < of.positions; first += lanes) {
            const std::uint32_t key = first + threadIdx.x;
            const float weight = key < end ? expf(row[key] * of.scale - sum) : 0;
            const float slope = key < end ? weight * (slopes[key] - product) * of.scale : 0;
            __syncwarp();
            put<Element>(row, key, of.positions, weight);
            put<Element>(slopes, key, of.positions, slope);
        }
    });
}

template <class Element, class Operation>
void launch(void (*kernel)(Scores<Element>), const Operation& operation, const Tensor& gradient, const Memory& memory,
            const ScoresOfHeads& of, cudaStream_t stream)
{
    const Tensor& result = operation.result;
    const auto positions = static_cast<std::uint32_t>(result.height * result.width);
    const auto heads = static_cast<std::uint32_t>(operation.heads);
    const auto channels = static_cast<std::uint32_t>(result.channels / operation.heads);
    const std::size_t map = of.image * positions * heads * channels;
    const auto* const maps = memory.at<Element>(gradient);
    const Scores<Element> scores{of.scores,
                                 of.slopes,
                                 memory.at<float>(operation.sums) + of.image * heads * positions,
                                 memory.at<Element>(result) + map,
                                 maps == nullptr ? nullptr : maps + map,
                                 static_cast<std::uint32_t>(operation.kv_heads),
                                 heads,
                                 of.first_head,
                                 positions,
                                 channels,
                                 1 / std::sqrt(static_cast<float>(channels)),
                                 operation.causal};
    const auto rows = static_cast<unsigned>(vectors_in(std::size_t{scores.heads} * positions, 1));
    constexpr unsigned most_blocks = 1U << 16;
    kernel<<<std::min(most_blocks, (rows - 1) / warps + 1), dim3(lanes, warps), 0, stream>>>(scores);
    gpu::check(cudaGetLastError());
}

}  // namespace

void weigh_scores(const Attention& operation, const Memory& memory, const ScoresOfHeads& of, cudaStream_t stream)
{
    with_element(operation.source.precision,
                 [&]<class Element>() { launch(weigh<Element>, operation, {}, memory, of, stream); });
}

void slope_scores(const AttentionGradient& operation, const Memory& memory, const ScoresOfHeads& of,
                  cudaStream_t stream)
{
    with_element(operation.source.precision,
                 [&]<class Element>() { launch(slope<Element>, operation, operation.gradient, memory, of, stream); });
}

}  // namespace roof::cudnn
