// Maps in another size: a thread computes a vector of channels of one position from its neighbours.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/places.cuh"

namespace roof::cudnn {
namespace {

/// Of a resized axis.
struct Axis {
    int source, result;
    float ratio = static_cast<float>(result) / static_cast<float>(source);
    float inverse = 1 / static_cast<float>(result);

    /// Where a place of the result reads the source.
    __device__ float read_by(int place) const
    {
        const float product = (static_cast<float>(place) + 0.5F) * static_cast<float>(source);
        const float near = product * inverse;  // and with its remainder the quotient: a division takes a call
        const float at = near + fmaf(-near, static_cast<float>(result), product) * inverse - 0.5F;
        return fminf(fmaxf(at, 0), static_cast<float>(source - 1));
    }
    __device__ float weight(int from, int to) const
    {
        return fmaxf(0, 1 - fabsf(static_cast<float>(from) - read_by(to)));
    }
    /// The first of the places of the result that may read this place of the source or one behind it.
    __device__ int first_reader(int from) const
    {
        return from <= 0 ? 0 : static_cast<int>((static_cast<float>(from) - 0.5F) * ratio - 0.5F);
    }
    __device__ int end_of_readers(int from) const
    {
        const int end = static_cast<int>((static_cast<float>(from) + 1.5F) * ratio + 1.5F);
        return from + 1 >= source || end > result ? result : end;
    }
};

template <class Element, int width, bool is_gradient>
struct ResizeBody {
    Axis down, across;
    const Element* read;
    Element* written;

    /// Computes the result, or the gradient of the source, at (row, x) for one vector of channels.
    __device__ void operator()(const Row& row, int x, std::uint32_t channel, std::uint32_t vectors) const
    {
        const int y_first = is_gradient ? down.first_reader(row.y) : static_cast<int>(down.read_by(row.y));
        const int y_end = is_gradient ? down.end_of_readers(row.y) : min(y_first + 2, down.source);
        const int x_first = is_gradient ? across.first_reader(x) : static_cast<int>(across.read_by(x));
        const int x_end = is_gradient ? across.end_of_readers(x) : min(x_first + 2, across.source);
        const auto in_row = [&](int places) { return static_cast<std::uint32_t>(places) * vectors; };
        Lanes<width> sum{};
        for (int i = y_first; i < y_end; ++i) {
            const float of_row = is_gradient ? down.weight(row.y, i) : down.weight(i, row.y);
            const std::uint32_t begin = Row{row.image, i}.begin(is_gradient ? down.result : down.source,
                                                                in_row(is_gradient ? across.result : across.source)) +
                                        channel;
            for (int j = x_first; j < x_end; ++j) {
                const float share = of_row * (is_gradient ? across.weight(x, j) : across.weight(j, x));
                const Lanes<width> one = load<width>(read, begin + in_row(j));
#pragma unroll
                for (int k = 0; k < width; ++k) sum.lane[k] += share * one.lane[k];
            }
        }
        store(written,
              row.begin(is_gradient ? down.source : down.result, in_row(is_gradient ? across.source : across.result)) +
                  in_row(x) + channel,
              sum);
    }
};

template <bool is_gradient>
void enqueue_resize(const Tensor& source, const Tensor& result, const Memory& memory, cudaStream_t stream)
{
    const Tensor &read = is_gradient ? result : source, &written = is_gradient ? source : result;
    launch_over_places(written, {}, stream, [&]<class Element, int width>(const auto&) {
        return ResizeBody<Element, width, is_gradient>{{source.height, result.height},
                                                       {source.width, result.width},
                                                       memory.at<Element>(read),
                                                       memory.at<Element>(written)};
    });
}

}  // namespace

void enqueue(const Resize& operation, const Memory& memory, cudaStream_t stream)
{
    enqueue_resize<false>(operation.source, operation.result, memory, stream);
}

void enqueue(const ResizeGradient& operation, const Memory& memory, cudaStream_t stream)
{
    enqueue_resize<true>(operation.source, operation.result, memory, stream);
}

}  // namespace roof::cudnn
