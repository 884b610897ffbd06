#include "ert/gpu/event_timer.hpp"

namespace roof::gpu {

namespace {

EventHandle make_event()
{
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event));
    return EventHandle(event);
}

}  // namespace

EventTimer::EventTimer() : begin_(make_event()), end_(make_event()) {}

Seconds EventTimer::time(const Stream& stream, const std::function<void()>& enqueue) const
{
    check(cudaEventRecord(begin_.get(), stream.get()));
    enqueue();
    check(cudaEventRecord(end_.get(), stream.get()));
    check(cudaEventSynchronize(end_.get()));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return Seconds{1e-3 * static_cast<double>(milliseconds)};
}

}  // namespace roof::gpu
