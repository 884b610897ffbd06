// CUDA events that time parts of a stream, also in captured graphs.
#pragma once

#include "ert/base/units.hpp"

#include <cuda_runtime_api.h>

#include <memory>

namespace roof::cudnn {

class Event {
  public:
    /// Creates an event of the current device. Throws Error.
    Event();

    void record(cudaStream_t stream) const;
    /// For a stream in capture: each run of the graph records the event. It can be queried outside the graph.
    void record_in_graph(cudaStream_t stream) const;
    /// Work enqueued in the stream from now on waits for the last record of this event.
    void hold(cudaStream_t stream) const;
    void synchronize() const;
    /// Returns the time from `begin` to this event. Both must be recorded and complete.
    Seconds since(const Event& begin) const;

  private:
    struct Destroy {
        void operator()(cudaEvent_t event) const noexcept;
    };
    std::unique_ptr<CUevent_st, Destroy> handle_;
};

}  // namespace roof::cudnn
