#include "ert/gpu/event_timer.hpp"

#include "ert/gpu/check.hpp"

namespace roof::gpu {

EventTimer::EventTimer() : begin_(create()), end_(create()) {}

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

EventTimer::Event EventTimer::create()
{
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event));
    return Event(event);
}

void EventTimer::Destroy::operator()(cudaEvent_t event) const noexcept
{
    log_failure(cudaEventDestroy(event));
}

}  // namespace roof::gpu
