// The embedding of tokens and the values of positions. Sums go in the order of the positions, so that results are bitwise reproducible.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

constexpr unsigned lanes = 32;

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

/// A warp for each row of the weights looks for the row's token, 32 positions at once.
template <class Element, int width>
__global__ void __launch_bounds__(threads_per_block)
    add_to_rows(const float* tokens, const Element* gradient, float* weights, std::uint32_t positions,
                std::uint32_t rows, std::uint32_t vectors, bool adds)
{
    const std::uint32_t row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const auto token = static_cast<float>(row);
    const auto add = [&](std::uint32_t place) {
        for (std::uint32_t v = threadIdx.x; v < vectors; v += lanes) {
            Lanes<width> sum = load<width>(gradient, place * vectors + v);
            if (adds) sum.add(load<width>(weights, row * vectors + v));
            store(weights, row * vectors + v, sum);
        }
        adds = true;
    };
#pragma unroll 8
    for (std::uint32_t first = 0; first < positions; first += lanes) {
        const std::uint32_t place = first + threadIdx.x;
        unsigned found = __ballot_sync(~0U, place < positions && tokens[place] == token);
        for (; found != 0; found &= found - 1)
            add(first + lanes - 1 - static_cast<std::uint32_t>(__clz(static_cast<int>(found & (0U - found)))));
    }
    for (std::uint32_t v = threadIdx.x; !adds && v < vectors; v += lanes)
        store(weights, row * vectors + v, Lanes<width>{});
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

    __device__ void operator()(std::uint32_t k) const
    {
        const std::uint32_t from = k % vectors + first;
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
    with_vectors(operation.gradient, [&]<class Element, int width>() {
        constexpr unsigned lines = threads_per_block / lanes;
        const std::uint32_t vectors = vectors_of_row<width>(operation.gradient);
        const std::uint32_t rows = vectors_in(operation.weights.elements(), width) / vectors;
        add_to_rows<Element, width><<<(rows + lines - 1) / lines, dim3(lanes, lines), 0, stream>>>(
            memory.at<float>(operation.tokens), memory.at<Element>(operation.gradient),
            memory.at<float>(operation.weights), vectors_in(operation.gradient.rows(), 1), rows, vectors,
            operation.adds);
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
    launch_over(operation.result, stream, [&]<class Element, int width>() {
        return TakeBody<Element, width>{
            memory.at<Element>(operation.source), memory.at<Element>(operation.result),
            vectors_of_image<width>(operation.result), vectors_of_image<width>(operation.source),
            static_cast<std::uint32_t>(operation.first) * vectors_of_row<width>(operation.source)};
    });
}

}  // namespace roof::cudnn
