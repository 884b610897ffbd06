// Layer and RMS norm: the threads of a line share the channels of a position. The sums over the positions are those of a batch norm's
// gradients, with numbers of the position in the place of numbers of the channel.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/sums.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

constexpr unsigned lanes = 32;
constexpr unsigned lines = threads_per_block / lanes;

/// Mean and inverse deviation of each position. An RMS norm has no mean.
struct PositionNumbers {
    float* mean;
    float* inverse;

    __device__ float mean_of(std::uint32_t row) const { return mean == nullptr ? 0 : mean[row]; }
};

/// Normalised values of a vector.
template <int width>
__device__ Lanes<width> normalised(Lanes<width> x, float mean, float inverse)
{
#pragma unroll
    for (int i = 0; i < width; ++i) x.lane[i] = (x.lane[i] - mean) * inverse;
    return x;
}

template <int width>
__device__ Lanes<width> product(Lanes<width> a, const Lanes<width>& b)
{
#pragma unroll
    for (int i = 0; i < width; ++i) a.lane[i] *= b.lane[i];
    return a;
}

/// The position's numbers of one line, found by its threads. `call(vector)` is called for each vector of the thread, and returns the
/// lanes that it adds to the sum.
template <int width, class Call>
__device__ float sum_of_line(std::uint32_t vectors, float* shared, const Call& call)
{
    float sum = 0;
#pragma unroll 4
    for (std::uint32_t v = threadIdx.x; v < vectors; v += lanes) {
        const Lanes<width> all = call(v);
#pragma unroll
        for (int i = 0; i < width; ++i) sum += all.lane[i];
    }
    return join(sum, shared, threadIdx.y * lanes + threadIdx.x, lanes, Plus{});
}

template <class Element, int width>
struct Forward {
    const Element* source;
    const float *weight, *bias;
    PositionNumbers numbers;
    Element* result;
    float epsilon;

    /// `vectors`: of a position; none in a line that has no position.
    __device__ void operator()(std::uint32_t row, std::uint32_t vectors, std::uint32_t channels, float* shared) const
    {
        const std::uint32_t first = row * vectors;
        const auto count = static_cast<float>(channels);
        const auto value = [&](std::uint32_t v) { return load<width>(source, first + v); };
        const bool has_mean = numbers.mean != nullptr;
        const float mean = has_mean ? sum_of_line<width>(vectors, shared, value) / count : 0;
        const auto square = [&](std::uint32_t v) {
            const Lanes<width> from_mean = normalised(value(v), mean, 1);
            return product(from_mean, from_mean);
        };
        const float inverse = 1 / sqrtf(sum_of_line<width>(vectors, shared, square) / count + epsilon);
#pragma unroll 4
        for (std::uint32_t v = threadIdx.x; v < vectors; v += lanes) {
            Lanes<width> y = product(normalised(value(v), mean, inverse), load<width>(weight, v));
            if (bias != nullptr) y.add(load<width>(bias, v));
            store(result, first + v, y);
        }
        if (threadIdx.x != 0 || vectors == 0) return;
        if (has_mean) numbers.mean[row] = mean;
        numbers.inverse[row] = inverse;
    }
};

template <class Element, int width>
struct Backward {
    const Element *gradient, *source;
    const float* weight;
    PositionNumbers numbers;
    Element* result;

    /// The gradient of the normalised values, and these.
    struct Vector {
        Lanes<width> given, normal;
    };
    __device__ Vector at(std::uint32_t row, std::uint32_t vector, std::uint32_t column) const
    {
        return {product(load<width>(gradient, vector), load<width>(weight, column)),
                normalised(load<width>(source, vector), numbers.mean_of(row), numbers.inverse[row])};
    }
    __device__ void operator()(std::uint32_t row, std::uint32_t vectors, std::uint32_t channels, float* shared) const
    {
        const std::uint32_t first = row * vectors;
        const auto count = static_cast<float>(channels);
        const auto given = [&](std::uint32_t v) { return at(row, first + v, v).given; };
        const auto with_normal = [&](std::uint32_t v) {
            const Vector one = at(row, first + v, v);
            return product(one.given, one.normal);
        };
        const float mean = numbers.mean == nullptr ? 0 : sum_of_line<width>(vectors, shared, given) / count;
        const float slope = sum_of_line<width>(vectors, shared, with_normal) / count;
        for (std::uint32_t v = threadIdx.x; v < vectors; v += lanes) {
            const Vector one = at(row, first + v, v);
            Lanes<width> to;
#pragma unroll
            for (int i = 0; i < width; ++i)
                to.lane[i] = numbers.inverse[row] * (one.given.lane[i] - mean - one.normal.lane[i] * slope);
            store(result, first + v, to);
        }
    }
};

/// Sums over the positions: gradients of bias and weight.
template <class Element, int width>
struct SumsBody {
    const Element *gradient, *source;
    PositionNumbers numbers;
    float *sum, *products;

    static constexpr unsigned threads = 256;
    static constexpr int parts = 2;
    static constexpr std::uint32_t rows_at_once = 2;
    struct Nothing {};
    struct Fetched {
        Stored<Element, width> gradient, source;
    };
    __device__ Nothing of_channels(std::uint32_t) const { return {}; }
    __device__ Fetched fetch_at(const Place& place) const
    {
        return {fetch<width>(gradient, place.vector), fetch<width>(source, place.vector)};
    }
    __device__ void add(const Nothing&, const Place& place, const Fetched& fetched, Totals<width, parts>& sums) const
    {
        const Lanes<width> g = widened(fetched.gradient);
        const Lanes<width> x =
            normalised(widened(fetched.source), numbers.mean_of(place.row), numbers.inverse[place.row]);
#pragma unroll
        for (int i = 0; i < width; ++i) {
            sums.of[0][i] += g.lane[i];
            sums.of[1][i] += g.lane[i] * x.lane[i];
        }
    }
    __device__ void finish(std::uint32_t channel, const Totals<width, parts>& sums, int i) const
    {
        if (sum != nullptr) sum[channel] = sums.of[0][i];
        products[channel] = sums.of[1][i];
    }
};

/// Calls body(row, vectors, channels, shared) for each position, by one line of a block.
template <class Body>
__global__ void __launch_bounds__(threads_per_block)
    for_each_position(Body body, std::uint32_t rows, std::uint32_t vectors, std::uint32_t channels)
{
    __shared__ float shared[threads_per_block];
    for (std::uint32_t first = blockIdx.x * lines; first < rows; first += gridDim.x * lines) {
        const std::uint32_t row = first + threadIdx.y;
        const bool is_there = row < rows;
        body(is_there ? row : 0, is_there ? vectors : 0, channels, shared);
    }
}

template <class Body>
void launch_positions(const Tensor& map, int width, const Body& body, cudaStream_t stream)
{
    constexpr unsigned most_blocks = 1U << 16;
    const auto channels = static_cast<std::uint32_t>(map.channels);
    const std::uint32_t vectors = vectors_in(map.elements(), width);
    const auto rows = static_cast<std::uint32_t>(map.rows());
    for_each_position<<<std::min(most_blocks, (rows - 1) / lines + 1), dim3(lanes, lines), 0, stream>>>(
        body, rows, vectors / rows, channels);
    gpu::check(cudaGetLastError());
}

template <class Operation>
PositionNumbers numbers_of(const Operation& operation, const Memory& memory)
{
    return {memory.at<float>(operation.mean), memory.at<float>(operation.inverse_deviation)};
}

}  // namespace

void enqueue(const LayerNorm& operation, const Memory& memory, cudaStream_t stream)
{
    with_vectors(operation.source, [&]<class Element, int width>() {
        launch_positions(
            operation.source, width,
            Forward<Element, width>{memory.at<Element>(operation.source), memory.at<float>(operation.weight),
                                    memory.at<float>(operation.bias), numbers_of(operation, memory),
                                    memory.at<Element>(operation.result), operation.epsilon},
            stream);
    });
}

void enqueue(const LayerNormGradient& operation, const Memory& memory, cudaStream_t stream)
{
    with_vectors(operation.source, [&]<class Element, int width>() {
        const Element* const gradient = memory.at<Element>(operation.gradient);
        const Element* const source = memory.at<Element>(operation.source);
        const PositionNumbers numbers = numbers_of(operation, memory);
        launch_sums<width>(operation.source,
                           SumsBody<Element, width>{gradient, source, numbers, memory.at<float>(operation.sum),
                                                    memory.at<float>(operation.sum_of_products)},
                           operation.partial, memory, stream);
        launch_positions(operation.source, width,
                         Backward<Element, width>{gradient, source, memory.at<float>(operation.weight), numbers,
                                                  memory.at<Element>(operation.result)},
                         stream);
    });
}

}  // namespace roof::cudnn
