#include "ert/gpu/stream.hpp"

#include "ert/method/bench/clock.hpp"

namespace roof::gpu {

Stream::Stream()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    handle_.reset(stream);
}

bool Stream::is_idle() const
{
    const cudaError_t status = cudaStreamQuery(handle_.get());
    if (status != cudaErrorNotReady) check(status);
    return status == cudaSuccess;
}

Event::Event(bool has_clock)
{
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, has_clock ? cudaEventDefault : cudaEventDisableTiming));
    handle_.reset(event);
}

void Event::order(cudaStream_t first, cudaStream_t then) const
{
    check(cudaEventRecord(handle_.get(), first));
    check(cudaStreamWaitEvent(then, handle_.get(), 0));
}

void Event::record(cudaStream_t stream) const
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status));
    const bool is_captured = status == cudaStreamCaptureStatusActive;
    check(cudaEventRecordWithFlags(handle_.get(), stream,
                                   is_captured ? cudaEventRecordExternal : cudaEventRecordDefault));
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

namespace {

using Captured = Handle<CUgraph_st, cudaGraphDestroy>;

/// If the capture fails, it is also ended: the stream must not stay in capture.
Captured capture(cudaStream_t stream, const std::function<void()>& enqueue)
{
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
        enqueue();
    } catch (...) {
        cudaStreamEndCapture(stream, &graph);
        const Captured half(graph);
        cudaGetLastError();
        throw;
    }
    check(cudaStreamEndCapture(stream, &graph));
    return Captured(graph);
}

}  // namespace

Graph::Graph(cudaStream_t stream, const std::function<void()>& enqueue)
{
    const Captured captured = capture(stream, enqueue);
    cudaGraphExec_t graph = nullptr;
    check(cudaGraphInstantiateWithFlags(&graph, captured.get(), 0));
    graph_.reset(graph);
    check(cudaGraphUpload(graph, stream));
}

}  // namespace roof::gpu
