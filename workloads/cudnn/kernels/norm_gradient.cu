// Gradient of a batch norm's source, from sums that another kernel computed.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/pooling.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

/// A batch norm as its gradient needs it.
template <class Element, int width>
struct Norm {
    const Element* source;
    const float* weight;
    const float* mean;
    const float* inverse;
    const float* sum;
    const float* products;
    Element* result;

    struct Slopes {
        NormSlope of[width];
    };
    __device__ Slopes of_channels(std::uint32_t column, float share) const
    {
        const Lanes<width> m = load<width>(mean, column);
        const Lanes<width> v = load<width>(inverse, column);
        const Lanes<width> w = load<width>(weight, column);
        const Lanes<width> first = load<width>(sum, column);
        const Lanes<width> second = load<width>(products, column);
        Slopes slopes;
#pragma unroll
        for (int i = 0; i < width; ++i)
            slopes.of[i] = slope_of(m.lane[i], v.lane[i], w.lane[i], {first.lane[i], second.lane[i]}, share);
        return slopes;
    }
    __device__ void write(const Slopes& slopes, std::uint32_t vector, const Lanes<width>& g,
                          const Lanes<width>& x) const
    {
        Lanes<width> all;
#pragma unroll
        for (int i = 0; i < width; ++i) all.lane[i] = norm_gradient(g.lane[i], x.lane[i], slopes.of[i]);
        store(result, vector, all);
    }
};

/// `masks`: by the ReLU of the scaled source. Fewer registers keep more blocks on a multiprocessor, more rows at once
/// put more loads on the way: the product of both is what counts.
template <class Element, int width, class Given, bool masks>
struct NormGradientBody {
    Given given;
    Norm<Element, width> norm;
    const float* scale;
    const float* shift;
    float share;

    static constexpr bool is_plain = std::is_same_v<Given, GivenGradient<Element, width, Masking::none>>;
    static constexpr int blocks_each = is_plain && !masks ? 4 : 3;
    static constexpr std::uint32_t rows_at_once = is_plain && sizeof(Element) == 2 ? 2 : 1;
    struct Fetched {
        typename Given::Parts given;
        Stored<Element, width> source;
    };
    struct Numbers {
        typename Norm<Element, width>::Slopes slopes;
        Scaling<width> scaling;
    };
    __device__ Numbers of_channels(std::uint32_t column) const
    {
        return {norm.of_channels(column, share), {masks ? scale : nullptr, shift, column}};
    }
    __device__ Fetched fetch_at(const Place& place) const
    {
        return {given.fetch_at(place), fetch<width>(norm.source, place.vector)};
    }
    __device__ void at(const Numbers& numbers, const Place& place, const Fetched& fetched) const
    {
        Lanes<width> g = given.gradient_of(fetched.given);
        const Lanes<width> x = widened(fetched.source);
        if constexpr (masks) numbers.scaling.template mask<Element>(g, x);
        norm.write(numbers.slopes, place.vector, g, x);
    }
};

/// Two batch norms with the same gradient, which is read once.
template <class Element, int width>
struct BothGradientsBody {
    const Element* gradient;
    Norm<Element, width> first, second;
    float share;

    static constexpr int blocks_each = 3;
    static constexpr std::uint32_t rows_at_once = 1;
    struct Fetched {
        Stored<Element, width> gradient, first, second;
    };
    struct Numbers {
        typename Norm<Element, width>::Slopes first, second;
    };
    __device__ Numbers of_channels(std::uint32_t column) const
    {
        return {first.of_channels(column, share), second.of_channels(column, share)};
    }
    __device__ Fetched fetch_at(const Place& place) const
    {
        return {fetch<width>(gradient, place.vector), fetch<width>(first.source, place.vector),
                fetch<width>(second.source, place.vector)};
    }
    __device__ void at(const Numbers& numbers, const Place& place, const Fetched& fetched) const
    {
        const Lanes<width> g = widened(fetched.gradient);
        first.write(numbers.first, place.vector, g, widened(fetched.first));
        second.write(numbers.second, place.vector, g, widened(fetched.second));
    }
};

template <class Element, int width, class Operation>
Norm<Element, width> norm_of(const Operation& operation, const Memory& memory)
{
    return {memory.at<Element>(operation.source),      memory.at<float>(operation.weight),
            memory.at<float>(operation.channels.mean), memory.at<float>(operation.channels.inverse_deviation),
            memory.at<float>(operation.sum),           memory.at<float>(operation.sum_of_products),
            memory.at<Element>(operation.result)};
}

}  // namespace

void enqueue(const NormGradient& operation, const Memory& memory, cudaStream_t stream)
{
    const float share = 1 / static_cast<float>(operation.source.rows());
    with_vectors(operation.source, [&]<class Element, int width>() {
        const Element* const gradient = memory.at<Element>(operation.gradient);
        const Norm<Element, width> norm = norm_of<Element, width>(operation, memory);
        if constexpr (width == vector_width) {
            if (operation.other_norm.source) {
                const auto second = norm_of<Element, width>(operation.other_norm, memory);
                return launch_rows<width>(operation.source, stream,
                                          BothGradientsBody<Element, width>{gradient, norm, second, share});
            }
        }
        const auto launch = [&]<bool masks>(const auto& given) {
            launch_rows<width>(operation.source, stream,
                               NormGradientBody<Element, width, std::decay_t<decltype(given)>, masks>{
                                   given, norm, memory.at<float>(operation.channels.scale),
                                   memory.at<float>(operation.channels.shift), share});
        };
        if (operation.winners) {
            const auto* const winners = memory.at<std::uint8_t>(operation.winners);
            return with_window<width>(
                shape_of(operation.source, operation.gradient, operation.window), [&](const auto& window) {
                    launch.template operator()<true>(
                        PooledGradient<Element, width, std::decay_t<decltype(window)>>{window, gradient, winners});
                });
        }
        const Element* const output = memory.at<Element>(operation.output);
        if (output != nullptr)
            return launch.template operator()<false>(
                GivenGradient<Element, width, Masking::by_output>{.share = gradient, .output = output});
        const GivenGradient<Element, width, Masking::none> given{.share = gradient};
        operation.relu ? launch.template operator()<true>(given) : launch.template operator()<false>(given);
    });
}

}  // namespace roof::cudnn
