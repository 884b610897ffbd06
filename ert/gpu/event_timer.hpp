// Device time between two points of a stream, by events.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/stream.hpp"

#include <functional>

namespace roof::gpu {

/// An event with a clock, on the device that was current when it was made. These functions throw Error.
class Event {
  public:
    Event();

    /// In a stream in capture, each run of the graph records the event, and it can be read outside the graph.
    void record(cudaStream_t stream) const;
    /// Work enqueued in the stream from now on waits for the last record of this event.
    void hold(cudaStream_t stream) const;
    void synchronize() const;
    /// Returns the time from `begin` to this event. Both must be recorded and complete.
    Seconds since(const Event& begin) const;

  private:
    EventHandle handle_;
};

class EventTimer {
  public:
    /// Seconds that the stream takes for the work that `enqueue` puts into it. Waits for its end. Resolution about 0.5
    /// us.
    Seconds time(const Stream& stream, const std::function<void()>& enqueue) const;

  private:
    Event begin_;
    Event end_;
};

}  // namespace roof::gpu
