// Device time between two points of a stream, by events. Probes use it to size a launch; the shared loop does the
// timing that counts.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/stream.hpp"

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

namespace roof::gpu {

class EventTimer {
  public:
    /// On the current device. Throws Error.
    EventTimer();

    /// Seconds the stream took for what `enqueue` put into it; waits for its end. Resolution about 0.5 us.
    Seconds time(const Stream& stream, const std::function<void()>& enqueue) const;

  private:
    struct Destroy {
        void operator()(cudaEvent_t event) const noexcept;
    };
    using Event = std::unique_ptr<CUevent_st, Destroy>;
    static Event create();

    Event begin_;
    Event end_;
};

}  // namespace roof::gpu
