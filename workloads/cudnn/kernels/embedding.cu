// The embedding of tokens and the values of positions. Sums go in the order of the positions, or of every 32nd, so that results are
// bitwise reproducible.
#include "workloads/cudnn/kernels/kernels.hpp"
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

/// A line of threads for each row of the weights. Each thread counts the row's token among every 32nd position; then the line adds what
/// it found, thread by thread.
template <class Element, int width>
__global__ void __launch_bounds__(threads_per_block)
    add_to_rows(const float* tokens, const Element* gradient, float* weights, std::uint32_t positions,
                std::uint32_t rows, std::uint32_t vectors, bool adds)
{
    constexpr unsigned lanes = 32;
    __shared__ std::uint32_t found[threads_per_block];
    const std::uint32_t row = blockIdx.x * blockDim.y + threadIdx.y;
    const auto token = static_cast<float>(row);  // a conversion of each token would take most of the time
    const auto is_of_row = [&](std::uint32_t place) { return tokens[place] == token; };
    std::uint32_t count = 0;
#pragma unroll 8
    for (std::uint32_t place = threadIdx.x; place < positions; place += lanes) count += is_of_row(place) ? 1 : 0;
    found[threadIdx.y * lanes + threadIdx.x] = count;
    __syncthreads();
    if (row >= rows) return;
    for (std::uint32_t v = threadIdx.x; v < vectors; v += lanes) {
        Lanes<width> sum{};
        bool writes = !adds;
        if (adds) sum = load<width>(weights, row * vectors + v);
        for (unsigned lane = 0; lane < lanes; ++lane) {
            std::uint32_t left = found[threadIdx.y * lanes + lane];
            writes = writes || left > 0;
            for (std::uint32_t place = lane; left > 0; place += lanes) {
                if (!is_of_row(place)) continue;
                sum.add(load<width>(gradient, place * vectors + v));
                --left;
            }
        }
        if (writes) store(weights, row * vectors + v, sum);
    }
}

template <class Element, int width>
struct PositionsBody {
    const Element* source;
    const Element* weights;
    Element* result;
    std::uint32_t vectors;  ///< of an image
    std::uint32_t there;    ///< of the weights

    __device__ void operator()(std::uint32_t k) const
    {
        Lanes<width> sum = load<width>(source, k);
        if (k % vectors < there) sum.add(load<width>(weights, k % vectors));
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
        for (std::uint32_t n = 0; n < images; ++n) sum.add(load<width>(gradient, n * vectors + k));
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
        constexpr unsigned lanes = 32;
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
            memory.at<Element>(operation.source), memory.at<Element>(operation.weights),
            memory.at<Element>(operation.result), vectors_of_image<width>(operation.source),
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
