// The embedding of tokens and the values of positions. Sums go in a fixed order: results are bitwise reproducible.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/sums.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

template <class Element, int width>
struct EmbedBody {
    const float* tokens;
    const Element* weights;
    Element* result;
    std::uint32_t vectors;  ///< of a row

    __device__ void operator()(std::uint32_t k) const
    {
        const auto token = static_cast<std::uint32_t>(tokens[k / vectors]);
        store(result, k, load<width>(weights, token * vectors + k % vectors));
    }
};

/// A block for each position. The block of a token's first position adds the gradients of all positions of the token to
/// its row; a block that finds its token at an earlier position ends. Each line of threads sums every eighth group of
/// 32 positions, in order; then the lines are added, in order.
template <class Element, int width>
__global__ void __launch_bounds__(threads_per_block)
    add_to_rows(const float* tokens, const Element* gradient, float* weights, std::uint32_t positions,
                std::uint32_t vectors)
{
    constexpr int kept = 4;       // vectors of a row that a thread sums at once
    constexpr unsigned seen = 8;  // positions that a thread looks at before the block decides
    __shared__ float shared[width * threads_per_block];
    __shared__ bool finds[threads_per_block / lanes];  // of each line
    const std::uint32_t own = blockIdx.x;
    const float token = tokens[own];
    const unsigned thread = threadIdx.y * lanes + threadIdx.x;
    for (std::uint32_t back = 0; back < own; back += seen * threads_per_block) {
        bool is_there = false;
#pragma unroll
        for (unsigned i = 0; i < seen; ++i) {
            const std::uint32_t distance = back + i * threads_per_block + thread + 1;
            is_there = is_there || (distance <= own && tokens[own - distance] == token);
        }
        const bool is_found = __ballot_sync(~0U, is_there) != 0;
        if (threadIdx.x == 0) finds[threadIdx.y] = is_found;
        __syncthreads();
        for (const bool one : finds)
            if (one) return;
        __syncthreads();
    }
    for (std::uint32_t left = 0; left < vectors; left += kept * lanes) {
        Totals<width, 1> sums[kept];
        const auto add = [&](std::uint32_t place) {
#pragma unroll
            for (int k = 0; k < kept; ++k) {
                const std::uint32_t column = left + static_cast<unsigned>(k) * lanes + threadIdx.x;
                if (column >= vectors) continue;
                const Lanes<width> given = load<width>(gradient, place * vectors + column);
#pragma unroll
                for (int i = 0; i < width; ++i) sums[k].of[0][i] += given.lane[i];
            }
        };
        for (std::uint32_t first = own + threadIdx.y * lanes; first < positions; first += threads_per_block) {
            const std::uint32_t place = first + threadIdx.x;
            unsigned found = __ballot_sync(~0U, place < positions && tokens[place] == token);
            for (; found != 0; found &= found - 1)
                add(first + lanes - 1 - static_cast<std::uint32_t>(__clz(static_cast<int>(found & (0U - found)))));
        }
#pragma unroll
        for (int k = 0; k < kept; ++k) {
            sum_lines<threads_per_block>(sums[k], shared);
            const std::uint32_t column = left + static_cast<unsigned>(k) * lanes + threadIdx.x;
            if (threadIdx.y != 0 || column >= vectors) continue;
            const std::uint32_t at = static_cast<std::uint32_t>(token) * vectors + column;
            Lanes<width> sum = load<width>(weights, at);
#pragma unroll
            for (int i = 0; i < width; ++i) sum.lane[i] += sums[k].of[0][i];
            store(weights, at, sum);
        }
    }
}

template <class Element, int width>
struct PositionsBody {
    const Element* source;
    const Element* weights;
    Element* result;
    std::uint32_t vectors;       ///< of an image
    std::uint32_t first, there;  ///< of the weights: the image's first, and all

    __device__ void operator()(std::uint32_t k) const
    {
        Lanes<width> sum = load<width>(source, k);
        const std::uint32_t at = first + k % vectors;
        if (at < there) sum.add(load<width>(weights, at));
        store(result, k, sum);
    }
};

template <class Element, int width>
struct PositionsGradientBody {
    const Element* gradient;
    float* weights;
    std::uint32_t vectors, images;

    __device__ void operator()(std::uint32_t k) const
    {
        Lanes<width> sum{};
        for (std::uint32_t n = 0; n < images && k < vectors; ++n) sum.add(load<width>(gradient, n * vectors + k));
        store(weights, k, sum);
    }
};

template <class Element, int width>
struct TakeBody {
    const Element* source;
    Element* result;
    std::uint32_t vectors;           ///< of an image of the result
    std::uint32_t of_source, first;  ///< of an image of the source; what wraps around is none of its vectors
    const std::int32_t* order;
    std::uint32_t of_piece;  ///< with an order

    __device__ void operator()(std::uint32_t k) const
    {
        const std::uint32_t place = k % vectors;
        const std::uint32_t from =
            order == nullptr ? place + first
                             : static_cast<std::uint32_t>(order[place / of_piece]) * of_piece + place % of_piece;
        store(result, k, from < of_source ? load<width>(source, k / vectors * of_source + from) : Lanes<width>{});
    }
};

/// Vectors of an image.
template <int width>
std::uint32_t vectors_of_image(const Tensor& tensor)
{
    return vectors_in(tensor.elements(), width) / static_cast<std::uint32_t>(tensor.batch);
}

template <int width>
std::uint32_t vectors_of_row(const Tensor& tensor)
{
    return static_cast<std::uint32_t>(tensor.channels) / width;
}

}  // namespace

void enqueue(const Embed& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.result, stream, [&]<class Element, int width>() {
        return EmbedBody<Element, width>{memory.at<float>(operation.tokens), memory.at<Element>(operation.weights),
                                         memory.at<Element>(operation.result), vectors_of_row<width>(operation.result)};
    });
}

void enqueue(const EmbedGradient& operation, const Memory& memory, cudaStream_t stream)
{
    auto* const weights = memory.at<float>(operation.weights);
    if (!operation.adds) gpu::check(cudaMemsetAsync(weights, 0, operation.weights.bytes(), stream));
    with_vectors(operation.gradient, [&]<class Element, int width>() {
        const std::uint32_t positions = vectors_in(operation.gradient.rows(), 1);
        add_to_rows<Element, width><<<positions, dim3(lanes, threads_per_block / lanes), 0, stream>>>(
            memory.at<float>(operation.tokens), memory.at<Element>(operation.gradient), weights, positions,
            vectors_of_row<width>(operation.gradient));
        gpu::check(cudaGetLastError());
    });
}

void enqueue(const AddPositions& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.source, stream, [&]<class Element, int width>() {
        return PositionsBody<Element, width>{
            memory.at<Element>(operation.source),
            memory.at<Element>(operation.weights),
            memory.at<Element>(operation.result),
            vectors_of_image<width>(operation.source),
            static_cast<std::uint32_t>(operation.first) * vectors_of_row<width>(operation.source),
            vectors_in(operation.weights.elements(), width)};
    });
}

void enqueue(const AddPositionsGradient& operation, const Memory& memory, cudaStream_t stream)
{
    with_vectors(operation.gradient, [&]<class Element, int width>() {
        launch_vectors(vectors_in(operation.weights.elements(), width), stream,
                       PositionsGradientBody<Element, width>{memory.at<Element>(operation.gradient),
                                                             memory.at<float>(operation.weights),
                                                             vectors_of_image<width>(operation.gradient),
                                                             static_cast<std::uint32_t>(operation.gradient.batch)});
    });
}

void enqueue(const TakePositions& operation, const Memory& memory, cudaStream_t stream)
{
    Tensor pieces = operation.result;  // with an order these are moved
    pieces.channels = operation.piece();
    pieces.width *= operation.result.channels / pieces.channels;
    launch_over(operation.order ? pieces : operation.result, stream, [&]<class Element, int width>() {
        return TakeBody<Element, width>{
            memory.at<Element>(operation.source),
            memory.at<Element>(operation.result),
            vectors_of_image<width>(operation.result),
            vectors_of_image<width>(operation.source),
            static_cast<std::uint32_t>(operation.first) * vectors_of_row<width>(operation.source),
            memory.at<std::int32_t>(operation.order),
            vectors_of_row<width>(pieces)};
    });
}

}  // namespace roof::cudnn
