// Device time between two points of a stream, by events.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/stream.hpp"

#include <functional>

namespace roof::gpu {

class EventTimer {
  public:
    /// On the current device. Throws Error.
    EventTimer();

    /// Seconds that the stream takes for the work that `enqueue` puts into it. Waits for its end. Resolution about 0.5
    /// us.
    Seconds time(const Stream& stream, const std::function<void()>& enqueue) const;

  private:
    EventHandle begin_;
    EventHandle end_;
};

}  // namespace roof::gpu
