#include "ert/gpu/check.hpp"
#include "ert/gpu/probes/stream_kernel.hpp"

namespace roof::gpu {

namespace {

/// One pass: pairs of doubles, so that each thread moves 16 bytes per access and a warp whole lines.
template <StreamOperation operation>
__global__ void __launch_bounds__(stream_threads_per_block) stream_kernel(StreamLaunch launch)
{
    const auto* a = reinterpret_cast<const double2*>(launch.a);
    const auto* b = reinterpret_cast<const double2*>(launch.b);
    auto* out = reinterpret_cast<double2*>(launch.out);
    const std::size_t thread = std::size_t(blockIdx.x) * stream_threads_per_block + threadIdx.x;
    const std::size_t stride = std::size_t(gridDim.x) * stream_threads_per_block;
    const std::size_t pairs = launch.elements / 2;

    double sum = 0;
#pragma unroll 4
    for (std::size_t i = thread; i < pairs; i += stride) {
        if constexpr (operation == StreamOperation::load) {
            const double2 value = a[i];
            sum += value.x + value.y;
        } else if constexpr (operation == StreamOperation::store) {
            out[i] = make_double2(stream_value, stream_value);
        } else if constexpr (operation == StreamOperation::copy) {
            out[i] = a[i];
        } else {
            const double2 x = a[i];
            const double2 y = b[i];
            out[i] = make_double2(x.x + stream_scale * y.x, x.y + stream_scale * y.y);
        }
    }
    if constexpr (operation == StreamOperation::load) launch.sums[thread] = sum;
}

using Kernel = void (*)(StreamLaunch);

Kernel kernel_of(StreamOperation operation)
{
    switch (operation) {
        case StreamOperation::load:
            return stream_kernel<StreamOperation::load>;
        case StreamOperation::store:
            return stream_kernel<StreamOperation::store>;
        case StreamOperation::copy:
            return stream_kernel<StreamOperation::copy>;
        case StreamOperation::triad:
            return stream_kernel<StreamOperation::triad>;
    }
    return nullptr;
}

}  // namespace

void enqueue_stream(StreamOperation operation, const StreamLaunch& launch, cudaStream_t stream)
{
    kernel_of(operation)<<<launch.blocks, stream_threads_per_block, 0, stream>>>(launch);
    check(cudaGetLastError());
}

int resident_stream_blocks(StreamOperation operation)
{
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of(operation), stream_threads_per_block, 0));
    return blocks;
}

}  // namespace roof::gpu
