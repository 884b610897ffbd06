#include "workloads/cudnn/events.hpp"

#include "ert/gpu/check.hpp"

namespace roof::cudnn {

Event::Event()
{
    cudaEvent_t event = nullptr;
    gpu::check(cudaEventCreate(&event));
    handle_.reset(event);
}

void Event::record(cudaStream_t stream) const
{
    gpu::check(cudaEventRecord(handle_.get(), stream));
}

void Event::record_in_graph(cudaStream_t stream) const
{
    gpu::check(cudaEventRecordWithFlags(handle_.get(), stream, cudaEventRecordExternal));
}

void Event::hold(cudaStream_t stream) const
{
    gpu::check(cudaStreamWaitEvent(stream, handle_.get(), cudaEventWaitDefault));
}

void Event::synchronize() const
{
    gpu::check(cudaEventSynchronize(handle_.get()));
}

Seconds Event::since(const Event& begin) const
{
    float milliseconds = 0;
    gpu::check(cudaEventElapsedTime(&milliseconds, begin.handle_.get(), handle_.get()));
    return Seconds{1e-3 * static_cast<double>(milliseconds)};
}

void Event::Destroy::operator()(cudaEvent_t event) const noexcept
{
    gpu::log_failure(cudaEventDestroy(event));
}

}  // namespace roof::cudnn
