// A CUDA stream, the order of work between two streams, and device time between two points of a stream, by events.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/handle.hpp"

#include <cuda_runtime_api.h>

#include <functional>

namespace roof::gpu {

class Stream {
  public:
    /// On the current device; does not wait for the default stream. Throws Error.
    Stream();

    /// Waits until all work in the stream is done. Throws Error if any of it failed.
    void synchronize() const;
    /// Whether all work in it is done. Throws as synchronize().
    bool is_idle() const;
    cudaStream_t get() const { return handle_.get(); }

  private:
    Handle<CUstream_st, cudaStreamDestroy> handle_;
};

/// An event without a clock, to fork one stream from another and to join them again.
class Fork {
  public:
    /// On the current device. Throws Error.
    Fork();

    /// Work enqueued into `then` from here on waits for the work enqueued into `first` so far. `first` is on the device
    /// of the fork; `then` may be on another.
    void order(cudaStream_t first, cudaStream_t then) const;

  private:
    EventHandle event_;
};

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
    /// us. `watch`, if there is one, is called again and again until then, with the time so far, and throws to give up.
    Seconds time(const Stream& stream, const std::function<void()>& enqueue,
                 const std::function<void(Seconds)>& watch = {}) const;

  private:
    Event begin_;
    Event end_;
};

}  // namespace roof::gpu
