#include "ert/gpu/stream.hpp"

#include "ert/method/bench/clock.hpp"

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

bool Stream::is_idle() const
{
    const cudaError_t status = cudaStreamQuery(handle_.get());
    if (status != cudaErrorNotReady) check(status);
    return status == cudaSuccess;
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

Event::Event()
{
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event));
    handle_.reset(event);
}

void Event::record(cudaStream_t stream) const
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status));
    const bool is_captured = status == cudaStreamCaptureStatusActive;
    check(cudaEventRecordWithFlags(handle_.get(), stream,
                                   is_captured ? cudaEventRecordExternal : cudaEventRecordDefault));
}

void Event::hold(cudaStream_t stream) const
{
    check(cudaStreamWaitEvent(stream, handle_.get(), cudaEventWaitDefault));
}

void Event::synchronize() const
{
    check(cudaEventSynchronize(handle_.get()));
}

Seconds Event::since(const Event& begin) const
{
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.handle_.get(), handle_.get()));
    return Seconds{1e-3 * static_cast<double>(milliseconds)};
}

Seconds EventTimer::time(const Stream& stream, const std::function<void()>& enqueue,
                         const std::function<void(Seconds)>& watch) const
{
    begin_.record(stream.get());
    enqueue();
    end_.record(stream.get());
    if (watch) {
        const Clock clock = steady_clock();
        for (const Seconds begin = clock(); !stream.is_idle();) watch(clock() - begin);
    }
    end_.synchronize();
    return end_.since(begin_);
}

}  // namespace roof::gpu
