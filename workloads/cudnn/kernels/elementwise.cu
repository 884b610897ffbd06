// Kernels that read and write each value once.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

/// Converts all channels of one position of a map from planar to channels-last.
template <class Element>
struct ImportBody {
    const float* from;
    Element* to;
    std::uint32_t channels, map;
    const std::int32_t* labels_from;
    std::int32_t* labels;

    __device__ void operator()(std::uint32_t place) const
    {
        const std::size_t image = place / map;
        if (place % map == 0) labels[image] = labels_from[image];
        const std::size_t plane = image * channels * map + place % map;
        for (std::uint32_t c = 0; c < channels; ++c)
            to[std::size_t{place} * channels + c] = narrow<Element>(from[plane + std::size_t{c} * map]);
    }
};

template <class Element, int width>
struct BiasBody {
    Element* values;
    const Element* bias;
    std::uint32_t vectors_per_row;
    bool relu;

    __device__ void operator()(std::uint32_t k) const
    {
        Lanes<width> all = load<width>(values, k);
        if (bias != nullptr) all.add(load<width>(bias, k % vectors_per_row));
        if (relu) all.rectify();
        store(values, k, all);
    }
};

template <class Element, int width>
struct NormaliseBody {
    const Element* source;
    const float* scale;
    const float* shift;
    const Element* other;
    const float* other_scale;
    const float* other_shift;
    Element* result;
    std::uint32_t vectors_per_row;
    bool relu;

    __device__ static Lanes<width> read(const Element* from, const float* scales, const float* shifts, std::uint32_t k,
                                        std::uint32_t channel)
    {
        Lanes<width> all = load<width>(from, k);
        if (scales != nullptr) all.scale(load<width>(scales, channel), load<width>(shifts, channel));
        return all;
    }

    __device__ void operator()(std::uint32_t k) const
    {
        const std::uint32_t channel = k % vectors_per_row;
        Lanes<width> all = read(source, scale, shift, k, channel);
        if (other != nullptr) all.add(read(other, other_scale, other_shift, k, channel));
        if (relu) all.rectify();
        store(result, k, all);
    }
};

template <class Element, int width>
struct NormGradientBody {
    const Element* gradient;
    const Element* output;
    const Element* source;
    const float* weight;
    const float* mean;
    const float* inverse;
    const float* sum;
    const float* products;
    Element* result;
    std::uint32_t vectors_per_row;
    float count;

    __device__ void operator()(std::uint32_t k) const
    {
        const std::uint32_t channel = k % vectors_per_row;
        Lanes<width> g = load_gradient<width, Element>(gradient, nullptr, output, k);
        const Lanes<width> x = load<width>(source, k);
        const Lanes<width> m = load<width>(mean, channel);
        const Lanes<width> v = load<width>(inverse, channel);
        const Lanes<width> w = load<width>(weight, channel);
        const Lanes<width> first = load<width>(sum, channel);
        const Lanes<width> second = load<width>(products, channel);
#pragma unroll
        for (int i = 0; i < width; ++i) {
            const float normalised = (x.lane[i] - m.lane[i]) * v.lane[i];
            g.lane[i] =
                norm_gradient(g.lane[i], normalised, {first.lane[i], second.lane[i]}, count, w.lane[i] * v.lane[i]);
        }
        store(result, k, g);
    }
};

template <class Element, int width>
struct MaskBody {
    const Element* share;
    const Element* other;
    const Element* output;
    Element* result;

    __device__ void operator()(std::uint32_t k) const
    {
        store(result, k, load_gradient<width>(share, other, output, k));
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

template <class Element, int width>
struct WidenBody {
    const Element* from;
    float* to;

    __device__ void operator()(std::uint32_t k) const { store(to, k, load<width>(from, k)); }
};

}  // namespace

void enqueue(const ImportImages& operation, const Memory& memory, cudaStream_t stream)
{
    with_element(operation.to.precision, [&]<class Element>() {
        const auto map = static_cast<std::uint32_t>(operation.to.height * operation.to.width);
        launch_vectors(vectors_in(operation.to.rows(), 1), stream,
                       ImportBody<Element>{memory.at<float>(operation.from), memory.at<Element>(operation.to),
                                           static_cast<std::uint32_t>(operation.to.channels), map,
                                           memory.at<std::int32_t>(operation.labels_from),
                                           memory.at<std::int32_t>(operation.labels)});
    });
}

void enqueue(const AddBias& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.values, stream, [&]<class Element, int width>() {
        return BiasBody<Element, width>{memory.at<Element>(operation.values), memory.at<Element>(operation.bias),
                                        static_cast<std::uint32_t>(operation.values.channels / width), operation.relu};
    });
}

void enqueue(const Normalise& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.source, stream, [&]<class Element, int width>() {
        return NormaliseBody<Element, width>{memory.at<Element>(operation.source),
                                             memory.at<float>(operation.scale),
                                             memory.at<float>(operation.shift),
                                             memory.at<Element>(operation.other),
                                             memory.at<float>(operation.other_scale),
                                             memory.at<float>(operation.other_shift),
                                             memory.at<Element>(operation.result),
                                             static_cast<std::uint32_t>(operation.source.channels / width),
                                             operation.relu};
    });
}

void enqueue(const NormGradient& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.source, stream, [&]<class Element, int width>() {
        return NormGradientBody<Element, width>{memory.at<Element>(operation.gradient),
                                                memory.at<Element>(operation.output),
                                                memory.at<Element>(operation.source),
                                                memory.at<float>(operation.weight),
                                                memory.at<float>(operation.channels.mean),
                                                memory.at<float>(operation.channels.inverse_deviation),
                                                memory.at<float>(operation.sum),
                                                memory.at<float>(operation.sum_of_products),
                                                memory.at<Element>(operation.result),
                                                static_cast<std::uint32_t>(operation.source.channels / width),
                                                static_cast<float>(operation.source.rows())};
    });
}

void enqueue(const MaskGradient& operation, const Memory& memory, cudaStream_t stream)
{
    launch_over(operation.share, stream, [&]<class Element, int width>() {
        return MaskBody<Element, width>{memory.at<Element>(operation.share), memory.at<Element>(operation.other_share),
                                        memory.at<Element>(operation.output), memory.at<Element>(operation.result)};
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
    launch_over(operation.from, stream, [&]<class Element, int width>() {
        return WidenBody<Element, width>{memory.at<Element>(operation.from), memory.at<float>(operation.to)};
    });
}

}  // namespace roof::cudnn
