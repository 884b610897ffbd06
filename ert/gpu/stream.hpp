// A CUDA stream, the order of work between two streams, and device time between two points of a stream, by events.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/handle.hpp"

#include <cuda_runtime_api.h>

#include <functional>

namespace roof::gpu {

class Stream {
  public:
    /// On the current device; does not wait for the default stream. Throws Error.
    Stream();

    /// Waits until all work in the stream is done. Throws Error if any of it failed.
    void synchronize() const { check(cudaStreamSynchronize(handle_.get())); }
    /// Whether all work in it is done. Throws as synchronize().
    bool is_idle() const;
    cudaStream_t get() const { return handle_.get(); }

  private:
    Handle<CUstream_st, cudaStreamDestroy> handle_;
};

/// An event, on the device that was current when it was made. These functions throw Error.
class Event {
  public:
    /// Without a clock it only orders work: it forks one stream from another, and joins them again.
    explicit Event(bool has_clock = true);

    /// Work enqueued into `then` from here on waits for the work enqueued into `first` so far. `first` is on the device
    /// of the event; `then` may be on another.
    void order(cudaStream_t first, cudaStream_t then) const;

    /// In a stream in capture, each run of the graph records the event, and it can be read outside the graph.
    void record(cudaStream_t stream) const;
    /// Work enqueued in the stream from now on waits for the last record of this event.
    void hold(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, handle_.get(), cudaEventWaitDefault)); }
    void synchronize() const { check(cudaEventSynchronize(handle_.get())); }
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

// Work captured from a stream as a CUDA graph, which one call launches again.

class Graph {
  public:
    /// Captures, without running it, what `enqueue` puts into the stream. Throws what `enqueue` throws, or Error.
    Graph(cudaStream_t stream, const std::function<void()>& enqueue);

    void launch(cudaStream_t stream) const { check(cudaGraphLaunch(graph_.get(), stream)); }

  private:
    Handle<CUgraphExec_st, cudaGraphExecDestroy> graph_;
};

}  // namespace roof::gpu
