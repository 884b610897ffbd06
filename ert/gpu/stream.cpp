#include "ert/gpu/stream.hpp"

namespace roof::gpu {

Stream::Stream()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    handle_.reset(stream);
}

void Stream::synchronize() const
{
    check(cudaStreamSynchronize(handle_.get()));
}

Fork::Fork()
{
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    event_.reset(event);
}

void Fork::order(cudaStream_t first, cudaStream_t then) const
{
    check(cudaEventRecord(event_.get(), first));
    check(cudaStreamWaitEvent(then, event_.get(), 0));
}

}  // namespace roof::gpu
