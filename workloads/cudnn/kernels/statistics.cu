// A batch norm's statistics: sums per channel over all positions.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/norm_channels.cuh"
#include "workloads/cudnn/kernels/sums.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

template <class Element, int width>
struct StatisticsBody {
    const Element* source;
    NormChannels channels;

    static constexpr unsigned threads = 512;
    static constexpr int parts = 2;
    static constexpr std::uint32_t rows_at_once = 4;
    using Fetched = Stored<Element, width>;

    __device__ Lanes<width> of_channels(std::uint32_t column) const { return load<width>(source, column); }
    __device__ Fetched fetch_at(const Place& place) const { return fetch<width>(source, place.vector); }
    __device__ void add(const Lanes<width>& origin, const Place&, const Fetched& fetched,
                        Totals<width, parts>& sums) const
    {
        const Lanes<width> x = widened(fetched);
#pragma unroll
        for (int i = 0; i < width; ++i) {
            const Sums one = sums_of(x.lane[i], origin.lane[i]);
            sums.of[0][i] += one.first;
            sums.of[1][i] += one.second;
        }
    }

    __device__ void finish(std::uint32_t channel, const Totals<width, parts>& sums, int i) const
    {
        finish(channel, Sums{sums.of[0][i], sums.of[1][i]}, widen(source[channel]));
    }
    __device__ void finish(std::uint32_t channel, const Sums& sums, float origin) const
    {
        channels.write(channel, moments_of(static_cast<double>(sums.first), static_cast<double>(sums.second), origin,
                                           channels.count));
    }
};

/// As the end of a sum, with the sums of a convolution.
template <class Element>
__global__ void finish_statistics(StatisticsBody<Element, 1> body, const float* sum, const float* squares,
                                  std::uint32_t channels)
{
    const std::uint32_t channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel < channels) body.finish(channel, Sums{sum[channel], squares[channel]}, 0.0F);
}

}  // namespace

void enqueue(const Statistics& operation, const Memory& memory, cudaStream_t stream)
{
    const auto body_of = [&]<class Element, int width>() {
        return StatisticsBody<Element, width>{memory.at<Element>(operation.source),
                                              norm_channels_of(operation, operation.source.rows(), memory)};
    };
    if (operation.sum) {
        const auto channels = static_cast<std::uint32_t>(operation.source.channels);
        return with_element(operation.source.precision, [&]<class Element>() {
            finish_statistics<<<(channels - 1) / threads_per_block + 1, threads_per_block, 0, stream>>>(
                body_of.template operator()<Element, 1>(), memory.at<float>(operation.sum),
                memory.at<float>(operation.squares), channels);
            gpu::check(cudaGetLastError());
        });
    }
    with_vectors(operation.source, [&]<class Element, int width>() {
        launch_sums<width>(operation.source, body_of.template operator()<Element, width>(), operation.partial, memory,
                           stream);
    });
}

}  // namespace roof::cudnn
