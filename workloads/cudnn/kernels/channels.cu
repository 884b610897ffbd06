// Channels that are copied, and maps that are multiplied by one another or by a factor of each channel and image.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/sums.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"
#include "workloads/engine/activations.hpp"

namespace roof::cudnn {
namespace {

/// A thread copies one vector. All counts are in vectors.
template <class Element, int width>
struct CopyBody {
    const Element* source;
    Element* result;
    const std::int32_t* order;
    int from;
    std::uint32_t to, count, source_vectors, result_vectors;

    __device__ void operator()(std::uint32_t k) const
    {
        const std::uint32_t row = k / count;
        const std::uint32_t channel = k % count;
        const auto at = static_cast<std::uint32_t>(
            width == 1 && order != nullptr ? order[channel]
                                           : static_cast<std::int32_t>(channel) + from);  // large if it is negative
        Lanes<width> all{};
        if (at < source_vectors) all = load<width>(source, row * source_vectors + at);
        store(result, row * result_vectors + to + channel, all);
    }
};

template <class Element, int width>
struct ScaleBody {
    const Element* source;
    const Element* factor;
    Element* result;
    std::uint32_t of_factor, of_image;  ///< vectors; 0: a factor for each value
    bool activates;
    model::LayerKind activation;  ///< of the source, rounded as a map of it is

    __device__ void operator()(std::uint32_t k) const
    {
        Lanes<width> all = load<width>(source, k);
        if (activates) {
            engine::with_activation(activation, [&]<model::LayerKind kind>() {
#pragma unroll
                for (int i = 0; i < width; ++i) all.lane[i] = engine::activated<kind>(all.lane[i]);
            });
            round<Element>(all);
        }
        const Lanes<width> by = load<width>(factor, of_image > 0 ? k / of_image * of_factor + k % of_factor : k);
#pragma unroll
        for (int i = 0; i < width; ++i) all.lane[i] *= by.lane[i];
        store(result, k, all);
    }
};

template <class Element>
struct ScaleGradients {
    const Element *gradient, *source, *factor;
    Element *to_source, *to_factor;
};

/// With a factor for each channel: a block takes some channels of an image, its lines the positions in turns.
template <class Element, int width>
__global__ void __launch_bounds__(threads_per_block)
    scale_gradient(ScaleGradients<Element> of, std::uint32_t images, std::uint32_t positions, std::uint32_t vectors)
{
    __shared__ float shared[width * threads_per_block];
    const std::uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
    const bool is_there = column < vectors;
    for (std::uint32_t image = blockIdx.y; image < images; image += gridDim.y) {
        const std::uint32_t place_of_factor = image * vectors + column;
        Totals<width, 1> sums;
        if (is_there) {
            const Lanes<width> by = load<width>(of.factor, place_of_factor);
            for (std::uint32_t place = threadIdx.y; place < positions; place += blockDim.y) {
                const std::uint32_t k = (image * positions + place) * vectors + column;
                Lanes<width> given = load<width>(of.gradient, k);
                const Lanes<width> x = load<width>(of.source, k);
#pragma unroll
                for (int i = 0; i < width; ++i) {
                    sums.of[0][i] += given.lane[i] * x.lane[i];
                    given.lane[i] *= by.lane[i];
                }
                store(of.to_source, k, given);
            }
        }
        sum_lines<threads_per_block>(sums, shared);
        if (!is_there || threadIdx.y != 0) continue;
        Lanes<width> total;
#pragma unroll
        for (int i = 0; i < width; ++i) total.lane[i] = sums.of[0][i];
        store(of.to_factor, place_of_factor, total);
    }
}

/// A thread turns the vectors of two channels; or copies one of the others, unless it is there.
template <class Element, int width>
struct TurnBody {
    const Element* source;
    Element* result;
    const float *cosines, *sines;
    std::uint32_t apart, pairs, rest, positions;  ///< vectors of half a head, of all turned, of the others; of an image
    float sign;

    __device__ void operator()(std::uint32_t k) const
    {
        const std::uint32_t row = k / (pairs + rest);
        const std::uint32_t unit = k % (pairs + rest);
        const std::uint32_t begin = row * (2 * pairs + rest);
        if (unit >= pairs) {
            const std::uint32_t at = begin + pairs + unit;
            if (result != source) store(result, at, load<width>(source, at));
            return;
        }
        const std::uint32_t at = begin + unit + unit / apart * apart;
        const std::uint32_t angle = row % positions * apart + unit % apart;
        const Lanes<width> x = load<width>(source, at);
        const Lanes<width> y = load<width>(source, at + apart);
        const Lanes<width> cosine = load<width>(cosines, angle);
        const Lanes<width> sine = load<width>(sines, angle);
        Lanes<width> left, right;
#pragma unroll
        for (int i = 0; i < width; ++i) {
            left.lane[i] = x.lane[i] * cosine.lane[i] - y.lane[i] * (sign * sine.lane[i]);
            right.lane[i] = y.lane[i] * cosine.lane[i] + x.lane[i] * (sign * sine.lane[i]);
        }
        store(result, at, left);
        store(result, at + apart, right);
    }
};

bool is_map(const Tensor& factor, const Tensor& source)
{
    return factor.elements() == source.elements();
}

}  // namespace

void enqueue(const CopyChannels& operation, const Memory& memory, cudaStream_t stream)
{
    const Tensor& source = operation.source;
    const Tensor& result = operation.result;
    const auto launch = [&]<class Element, int width>() {
        const auto count = static_cast<std::uint32_t>(operation.count / width);
        vectors_in(std::max(source.elements(), result.elements()), width);  // their numbers fit 32 bits
        launch_vectors(vectors_in(result.rows() * count, 1), stream,
                       CopyBody<Element, width>{memory.at<Element>(source), memory.at<Element>(result),
                                                memory.at<std::int32_t>(operation.order), operation.from / width,
                                                static_cast<std::uint32_t>(operation.to / width), count,
                                                static_cast<std::uint32_t>(source.channels / width),
                                                static_cast<std::uint32_t>(result.channels / width)});
    };
    const bool is_whole = !operation.order && operation.from % vector_width == 0 && operation.to % vector_width == 0 &&
                          operation.count % vector_width == 0 && source.channels % vector_width == 0 &&
                          result.channels % vector_width == 0;
    with_element(source.precision, [&]<class Element>() {
        is_whole ? launch.template operator()<Element, vector_width>() : launch.template operator()<Element, 1>();
    });
}

void enqueue(const Scale& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.source, stream, [&]<class Element, int width>() {
        const auto vectors = static_cast<std::uint32_t>(operation.source.channels / width);
        const auto positions = static_cast<std::uint32_t>(operation.source.height * operation.source.width);
        return ScaleBody<Element, width>{memory.at<Element>(operation.source),
                                         memory.at<Element>(operation.factor),
                                         memory.at<Element>(operation.result),
                                         vectors,
                                         is_map(operation.factor, operation.source) ? 0 : positions * vectors,
                                         operation.activation.has_value(),
                                         operation.activation.value_or(model::LayerKind::relu6)};
    });
}

void enqueue(const Turn& operation, const Memory& memory, cudaStream_t stream)
{
    const auto launch = [&]<class Element, int width>() {
        const auto vectors = static_cast<std::uint32_t>(operation.source.channels / width);
        const auto apart = static_cast<std::uint32_t>(operation.angles.channels / width);
        const std::uint32_t pairs = static_cast<std::uint32_t>(operation.heads) * apart;
        vectors_in(operation.source.elements(), width);  // their numbers fit 32 bits
        const auto* const cosines = memory.at<float>(operation.angles);
        launch_vectors(vectors_in(operation.source.rows() * (vectors - pairs), 1), stream,
                       TurnBody<Element, width>{
                           memory.at<Element>(operation.source), memory.at<Element>(operation.result), cosines,
                           cosines + operation.angles.elements() / 2, apart, pairs, vectors - 2 * pairs,
                           static_cast<std::uint32_t>(operation.angles.height), operation.back ? -1.0F : 1.0F});
    };
    with_element(operation.source.precision, [&]<class Element>() {
        operation.angles.channels % vector_width == 0 ? launch.template operator()<Element, vector_width>()
                                                      : launch.template operator()<Element, 1>();
    });
}

void enqueue(const ScaleGradient& operation, const Memory& memory, cudaStream_t stream)
{
    constexpr unsigned most_columns = 8;
    constexpr unsigned most_images = 65535;  // of a grid's second dimension
    const auto& [gradient, source, factor, to_source, to_factor] = operation;
    if (is_map(factor, source)) {
        enqueue(Scale{gradient, source, to_factor}, memory, stream);
        return enqueue(Scale{gradient, factor, to_source}, memory, stream);
    }
    with_vectors(source, [&]<class Element, int width>() {
        vectors_in(source.elements(), width);  // their numbers fit 32 bits
        const Columns cut = columns_for(source, width, threads_per_block, most_columns);
        const auto images = static_cast<unsigned>(source.batch);
        scale_gradient<Element, width>
            <<<dim3(cut.column_blocks, std::min(images, most_images)), dim3(cut.columns, cut.lines), 0, stream>>>(
                {memory.at<Element>(gradient), memory.at<Element>(source), memory.at<Element>(factor),
                 memory.at<Element>(to_source), memory.at<Element>(to_factor)},
                images, static_cast<std::uint32_t>(source.height * source.width),
                static_cast<std::uint32_t>(source.channels / width));
        gpu::check(cudaGetLastError());
    });
}

}  // namespace roof::cudnn
