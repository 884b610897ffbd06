// Kernels that read and write each value once.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"
#include "workloads/engine/activations.hpp"

namespace roof::cudnn {
namespace {

/// Converts all channels of one position of a map from planar to channels-last.
template <class Element>
struct ImportBody {
    const float* from;
    Element* to;
    std::uint32_t channels, map;
    std::uint32_t labels_apart;  ///< positions for each label
    const std::int32_t* labels_from;
    std::int32_t* labels;

    __device__ void operator()(std::uint32_t place) const
    {
        const std::size_t image = place / map;
        if (place % labels_apart == 0) labels[place / labels_apart] = labels_from[place / labels_apart];
        const std::size_t plane = image * channels * map + place % map;
        __builtin_assume(channels > 0);
        for (std::uint32_t c = 0; c < channels; ++c)
            to[std::size_t{place} * channels + c] = narrow<Element>(from[plane + std::size_t{c} * map]);
    }
};

/// Writes one position of a map by space to depth: block x block positions of 3 channels each.
template <class Element, int block>
struct DeepImportBody {
    const float* from;
    Element* to;
    int height, width, padding;
    std::uint32_t rows, columns;
    const std::int32_t* labels_from;
    std::int32_t* labels;

    __device__ void operator()(std::uint32_t place) const
    {
        constexpr int given = 3;
        constexpr int vectors = (block * block * given + vector_width - 1) / vector_width;
        const DepthImages images{block, given, height, width, padding};
        const std::uint32_t image = place / (rows * columns);
        if (place % (rows * columns) == 0) labels[image] = labels_from[image];
        const auto row = static_cast<int>(place / columns % rows);
        const auto column = static_cast<int>(place % columns);
#pragma unroll(block > 4 ? 1 : vectors)
        for (int v = 0; v < vectors; ++v) {
            Lanes<vector_width> all{};
#pragma unroll
            for (int i = 0; i < vector_width; ++i) {
                const std::size_t at = images.place(image, row, column, v * vector_width + i);
                if (at != no_place) all.lane[i] = from[at];
            }
            store(to, place * vectors + v, all);
        }
    }
};

template <class Element>
struct ClearUnusedBody {
    Element* gradient;
    DepthWeights weights;

    __device__ void operator()(std::uint32_t k) const
    {
        if (weights.pytorch_place(k) == no_place) gradient[k] = narrow<Element>(0);
    }
};

template <class Element, int width>
struct BiasBody {
    Element* values;
    const Element* bias;
    bool relu;

    static constexpr int blocks_each = 4;
    static constexpr std::uint32_t rows_at_once = 2;
    using Fetched = Stored<Element, width>;

    __device__ Lanes<width> of_channels(std::uint32_t column) const
    {
        return bias != nullptr ? load<width>(bias, column) : Lanes<width>{};
    }
    __device__ Fetched fetch_at(const Place& place) const { return fetch<width>(values, place.vector); }
    __device__ void at(const Lanes<width>& biases, const Place& place, const Fetched& fetched) const
    {
        Lanes<width> all = widened(fetched);
        all.add(biases);
        if (relu) all.rectify();
        store(values, place.vector, all);
    }
};

/// `sums`: there is another tensor.
template <class Element, int width, bool sums>
struct NormaliseBody {
    const Element* source;
    const float* scale;
    const float* shift;
    const Element* other;
    const float* other_scale;
    const float* other_shift;
    Element* result;
    std::uint8_t* signs;
    bool relu;

    static constexpr int blocks_each = 4;
    static constexpr std::uint32_t rows_at_once = sums ? 1 : 2;
    struct Fetched {
        Stored<Element, width> source, other;
    };
    struct Numbers {
        Scaling<width> own, other;
    };
    __device__ Numbers of_channels(std::uint32_t column) const
    {
        return {{scale, shift, column}, {other_scale, other_shift, column}};
    }
    __device__ Fetched fetch_at(const Place& place) const
    {
        Fetched fetched;
        fetched.source = fetch<width>(source, place.vector);
        if constexpr (sums) fetched.other = fetch<width>(other, place.vector);
        return fetched;
    }
    __device__ void at(const Numbers& numbers, const Place& place, const Fetched& fetched) const
    {
        Lanes<width> all = widened(fetched.source);
        all.scale(numbers.own.scale, numbers.own.shift);
        if constexpr (sums) {
            Lanes<width> more = widened(fetched.other);
            more.scale(numbers.other.scale, numbers.other.shift);
            all.add(more);
        }
        if (relu) all.rectify();
        store(result, place.vector, all);
        if constexpr (width == signs_per_byte)
            if (signs != nullptr) signs[place.vector] = static_cast<std::uint8_t>(all.template signs<Element>());
    }
};

template <class Element, int width>
struct MaskBody {
    GivenGradient<Element, width, Masking::by_output> given;
    Element* result;

    __device__ void operator()(std::uint32_t k) const
    {
        store(result, k, given.gradient_of(given.fetch_at({0, 0, k})));
    }
};

/// With a gradient: the gradient before the activation.
template <class Element, int width>
struct ActivationBody {
    model::LayerKind kind;
    const Element* source;
    const Element* gradient;
    Element* result;

    __device__ void operator()(std::uint32_t k) const
    {
        Lanes<width> all = load<width>(source, k);
        engine::with_activation(kind, [&]<model::LayerKind of>() {
            if (gradient == nullptr) {
#pragma unroll
                for (int i = 0; i < width; ++i) all.lane[i] = engine::activated<of>(all.lane[i]);
            } else {
                const Lanes<width> given = load<width>(gradient, k);
#pragma unroll
                for (int i = 0; i < width; ++i) all.lane[i] = given.lane[i] * engine::activation_slope<of>(all.lane[i]);
            }
        });
        store(result, k, all);
    }
};

template <class Element, int width>
struct DropoutBody {
    const Element* source;
    Element* result;
    const StepState* state;
    std::uint32_t layer, threshold, first;
    float keep;  ///< fraction of values kept

    __device__ void operator()(std::uint32_t k) const
    {
        const std::uint32_t stream = dropout_stream(state->step, layer);
        const std::uint32_t place = first + k * width;
        Lanes<width> all = load<width>(source, k);
#pragma unroll
        for (int i = 0; i < width; ++i) {
            const bool kept = keeps(stream, place + static_cast<std::uint32_t>(i), threshold);
            all.lane[i] = kept ? all.lane[i] / keep : 0;
        }
        store(result, k, all);
    }
};

template <class Element>
struct Widened {
    const Element* from;
    float* to;
    std::uint32_t vectors, values;
};

template <class Element>
struct AllWidened {
    Widened<Element> tensors[Widen::most];
};

/// A line of blocks for each tensor.
template <class Element>
__global__ void widen_all(AllWidened<Element> all)
{
    const Widened<Element> tensor = all.tensors[blockIdx.y];
    const std::uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
    for (std::uint32_t k = first; k < tensor.vectors; k += gridDim.x * blockDim.x)
        store(tensor.to, k, load<vector_width>(tensor.from, k));
    const std::uint32_t last = tensor.vectors * vector_width + first;  // what is left is less than a vector
    if (last < tensor.values) tensor.to[last] = widen(tensor.from[last]);
}

}  // namespace

void enqueue(const ImportImages& operation, const Memory& memory, cudaStream_t stream)
{
    const Tensor& to = operation.to;
    with_element(to.precision, [&]<class Element>() {
        const auto* const from = memory.at<float>(operation.from);
        const auto* const labels_from = memory.at<std::int32_t>(operation.labels_from);
        auto* const labels = memory.at<std::int32_t>(operation.labels);
        const std::uint32_t positions = vectors_in(to.rows(), 1);
        const auto deep = [&]<int block>() {
            launch_vectors(positions, stream,
                           DeepImportBody<Element, block>{from, memory.at<Element>(to), operation.from.height,
                                                          operation.from.width, operation.padding,
                                                          static_cast<std::uint32_t>(to.height),
                                                          static_cast<std::uint32_t>(to.width), labels_from, labels});
        };
        switch (operation.block) {
            case 1:
                return deep.template operator()<1>();
            case 2:
                return deep.template operator()<2>();
            case 4:
                return deep.template operator()<4>();
            case 16:
                return deep.template operator()<16>();
            case 32:
                return deep.template operator()<32>();
            default:
                break;
        }
        launch_vectors(positions, stream,
                       ImportBody<Element>{from, memory.at<Element>(to), static_cast<std::uint32_t>(to.channels),
                                           static_cast<std::uint32_t>(to.height * to.width),
                                           static_cast<std::uint32_t>(to.rows() / operation.labels.elements()),
                                           labels_from, labels});
    });
}

void enqueue(const ClearUnused& operation, const Memory& memory, cudaStream_t stream)
{
    with_element(operation.gradient.precision, [&]<class Element>() {
        launch_vectors(vectors_in(operation.gradient.elements(), 1), stream,
                       ClearUnusedBody<Element>{memory.at<Element>(operation.gradient), operation.weights});
    });
}

void enqueue(const AddBias& operation, const Memory& memory, cudaStream_t stream)
{
    launch_by_channels(operation.values, stream, [&]<class Element, int width>() {
        return BiasBody<Element, width>{memory.at<Element>(operation.values), memory.at<Element>(operation.bias),
                                        operation.relu};
    });
}

void enqueue(const Normalise& operation, const Memory& memory, cudaStream_t stream)
{
    const auto launch = [&]<bool sums>() {
        launch_by_channels(operation.source, stream, [&]<class Element, int width>() {
            return NormaliseBody<Element, width, sums>{memory.at<Element>(operation.source),
                                                       memory.at<float>(operation.scale),
                                                       memory.at<float>(operation.shift),
                                                       memory.at<Element>(operation.other),
                                                       memory.at<float>(operation.other_scale),
                                                       memory.at<float>(operation.other_shift),
                                                       memory.at<Element>(operation.result),
                                                       memory.at<std::uint8_t>(operation.signs),
                                                       operation.relu};
        });
    };
    operation.other ? launch.template operator()<true>() : launch.template operator()<false>();
}

void enqueue(const MaskGradient& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.share, stream, [&]<class Element, int width>() {
        return MaskBody<Element, width>{{memory.at<Element>(operation.share), memory.at<Element>(operation.other_share),
                                         memory.at<Element>(operation.output)},
                                        memory.at<Element>(operation.result)};
    });
}

void enqueue(const Activate& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.source, stream, [&]<class Element, int width>() {
        return ActivationBody<Element, width>{operation.kind, memory.at<Element>(operation.source),
                                              memory.at<Element>(operation.gradient),
                                              memory.at<Element>(operation.result)};
    });
}

void enqueue(const Dropout& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.source, stream, [&]<class Element, int width>() {
        return DropoutBody<Element, width>{memory.at<Element>(operation.source),
                                           memory.at<Element>(operation.result),
                                           memory.state(),
                                           operation.layer,
                                           dropout_threshold(operation.probability),
                                           operation.first,
                                           1 - operation.probability};
    });
}

void enqueue(const Widen& operation, const Memory& memory, cudaStream_t stream)
{
    constexpr unsigned most_blocks = 128;  // of a tensor
    with_element(operation.from.front().precision, [&]<class Element>() {
        AllWidened<Element> all{};
        std::uint32_t largest = 0;
        for (std::size_t i = 0; i < operation.from.size(); ++i) {
            const Tensor& from = operation.from[i];
            all.tensors[i] = {memory.at<Element>(from), memory.at<float>(operation.to[i]),
                              vectors_in(from.elements(), vector_width), vectors_in(from.elements(), 1)};
            largest = std::max(largest, all.tensors[i].vectors);
        }
        const unsigned blocks = std::min(most_blocks, largest / threads_per_block + 1);
        const auto tensors = static_cast<unsigned>(operation.from.size());
        widen_all<<<dim3(blocks, tensors), threads_per_block, 0, stream>>>(all);
        gpu::check(cudaGetLastError());
    });
}

}  // namespace roof::cudnn
