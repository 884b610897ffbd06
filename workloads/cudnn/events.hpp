// Owners of CUDA events: with a clock, to time stretches of a stream; recorded in captured graphs too.
#pragma once

#include "ert/base/units.hpp"

#include <cuda_runtime_api.h>

#include <memory>

namespace roof::cudnn {

class Event {
  public:
    /// Of the current device. Throws Error.
    Event();

    void record(cudaStream_t stream) const;
    /// In a stream that is being captured: the event is recorded each time the graph runs, and may be asked from outside it.
    void record_in_graph(cudaStream_t stream) const;
    /// What is put into the stream from here on waits for the event's last record.
    void hold(cudaStream_t stream) const;
    void synchronize() const;
    /// Both recorded and over.
    Seconds since(const Event& begin) const;

  private:
    struct Destroy {
        void operator()(cudaEvent_t event) const noexcept;
    };
    std::unique_ptr<CUevent_st, Destroy> handle_;
};

}  // namespace roof::cudnn
