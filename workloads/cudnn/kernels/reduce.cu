// Gradients of biases and batch norms: sums per channel over all positions.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/pooling.cuh"
#include "workloads/cudnn/kernels/sums.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

struct ChannelPointers {
    const float* mean;
    const float* inverse;
    const float* scale;
    const float* shift;
};

/// What a reduction of gradients does beside the sums of the gradient.
enum class Beside { nothing, stores, masks_by_source };

/// A batch norm whose gradients are summed.
template <class Element>
struct SummedNorm {
    const Element* source;  ///< null: none
    ChannelPointers channels;
    float* products;
};

template <class Element, int width, class Given, Beside beside, int norms>
struct GradientBody {
    Given given;
    SummedNorm<Element> norm[norms];
    Element* result;
    float* sum[norms];

    struct Numbers {
        Lanes<width> mean[norms];
        Scaling<width> scaling;
    };
    __device__ Numbers of_channels(std::uint32_t column) const
    {
        const bool masks = beside == Beside::masks_by_source;
        Numbers numbers{{}, {masks ? norm[0].channels.scale : nullptr, norm[0].channels.shift, column}};
#pragma unroll
        for (int n = 0; n < norms; ++n)
            if (norm[n].source != nullptr) numbers.mean[n] = load<width>(norm[n].channels.mean, column);
        return numbers;
    }

    static constexpr unsigned threads = 256;
    static constexpr int parts = 1 + norms;
    static constexpr std::uint32_t rows_at_once = Given::is_gathered || norms > 1     ? 1
                                                  : beside == Beside::masks_by_source ? 4
                                                                                      : 2;
    struct Fetched {
        typename Given::Parts given;
        Stored<Element, width> source[norms];
    };

    __device__ Fetched fetch_at(const Place& place) const
    {
        Fetched fetched;
        fetched.given = given.fetch_at(place);
#pragma unroll
        for (int n = 0; n < norms; ++n)
            if (norm[n].source != nullptr) fetched.source[n] = fetch<width>(norm[n].source, place.vector);
        return fetched;
    }

    __device__ void add(const Numbers& numbers, const Place& place, const Fetched& fetched,
                        Totals<width, parts>& sums) const
    {
        Lanes<width> g = given.gradient_of(fetched.given);
        // Sum the rounded values, because later kernels read those.
        if constexpr (beside == Beside::stores) g = widened(store(result, place.vector, g));
        if constexpr (beside == Beside::masks_by_source)
            numbers.scaling.template mask<Element>(g, widened(fetched.source[0]));
#pragma unroll
        for (int i = 0; i < width; ++i) sums.of[0][i] += g.lane[i];
#pragma unroll
        for (int n = 0; n < norms; ++n) {
            if (norm[n].source == nullptr) continue;
            const Lanes<width> x = widened(fetched.source[n]);
#pragma unroll
            for (int i = 0; i < width; ++i) sums.of[1 + n][i] += g.lane[i] * (x.lane[i] - numbers.mean[n].lane[i]);
        }
    }

    __device__ void finish(std::uint32_t channel, const Totals<width, parts>& sums, int i) const
    {
#pragma unroll
        for (int n = 0; n < norms; ++n) {
            sum[n][channel] = sums.of[0][i];
            if (norm[n].products != nullptr)
                norm[n].products[channel] = sums.of[1 + n][i] * norm[n].channels.inverse[channel];
        }
    }
};

template <class Element, class Operation>
SummedNorm<Element> norm_of(const Operation& operation, const Memory& memory)
{
    return {memory.at<Element>(operation.source),
            {memory.at<float>(operation.channels.mean), memory.at<float>(operation.channels.inverse_deviation),
             memory.at<float>(operation.channels.scale), memory.at<float>(operation.channels.shift)},
            memory.at<float>(operation.sum_of_products)};
}

}  // namespace

void enqueue(const ReduceGradient& operation, const Memory& memory, cudaStream_t stream)
{
    const Tensor& summed = operation.winners ? operation.source : operation.share;
    with_vectors(summed, [&]<class Element, int width>() {
        const auto launch = [&]<Beside beside, int norms>(const auto& given) {
            GradientBody<Element, width, std::decay_t<decltype(given)>, beside, norms> body{
                given,
                {norm_of<Element>(operation, memory)},
                memory.at<Element>(operation.result),
                {memory.at<float>(operation.sum)}};
            if constexpr (norms > 1) {
                body.norm[1] = norm_of<Element>(operation.other_norm, memory);
                body.sum[1] = memory.at<float>(operation.other_norm.sum);
            }
            launch_sums<width>(summed, body, operation.partial, memory, stream);
        };
        const Element* const share = memory.at<Element>(operation.share);
        const Element* const other = memory.at<Element>(operation.other_share);
        if (operation.winners) {
            const auto* const winners = memory.at<std::uint8_t>(operation.winners);
            return with_window<width>(
                shape_of(operation.source, operation.share, operation.window), [&](const auto& window) {
                    launch.template operator()<Beside::masks_by_source, 1>(
                        PooledGradient<Element, width, std::decay_t<decltype(window)>>{window, share, winners});
                });
        }
        if constexpr (width == signs_per_byte) {
            if (operation.signs) {
                const GivenGradient<Element, width, Masking::by_signs> given{
                    .share = share, .other = other, .signs = memory.at<std::uint8_t>(operation.signs)};
                return operation.other_norm.sum ? launch.template operator()<Beside::stores, 2>(given)
                                                : launch.template operator()<Beside::stores, 1>(given);
            }
        }
        if (operation.relu)
            return launch.template operator()<Beside::masks_by_source, 1>(
                GivenGradient<Element, width, Masking::none>{.share = share});
        const GivenGradient<Element, width, Masking::by_output> given{
            .share = share, .other = other, .output = memory.at<Element>(operation.output)};
        operation.result ? launch.template operator()<Beside::stores, 1>(given)
                         : launch.template operator()<Beside::nothing, 1>(given);
    });
}

}  // namespace roof::cudnn
