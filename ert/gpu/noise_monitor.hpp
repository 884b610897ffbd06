// A stream whose launches are timed by events and watched: at what clock the multiprocessors ran, as the kernel itself
// says, and under which memory clock, power, temperature and slowdowns, as the driver does. What it sees goes to the
// trace.
#pragma once

#include "ert/gpu/buffer.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/event_timer.hpp"
#include "ert/gpu/kernels/clock_reading.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/gpu/stream.hpp"
#include "ert/method/bench/trace.hpp"

#include <functional>
#include <string>
#include <vector>

namespace roof::gpu {

class MonitoredStream {
  public:
    /// On the device, which is current meanwhile. `nvml` may be null. Throws Error.
    MonitoredStream(DeviceId id, std::shared_ptr<const Nvml> nvml);

    DeviceId id() const { return id_; }
    const Stream& stream() const { return stream_; }
    cudaStream_t get() const { return stream_.get(); }
    /// For the kernel to write; one that does not leaves the driver's word for the clock.
    ClockReading* reading() const { return readings_.data(); }

    /// Device time of what `enqueue` puts into the stream, without watching.
    Seconds time(const std::function<void()>& enqueue) const;

    /// Enqueues, waits for the end, and tells the trace the device time, the clock, the conditions and what disturbed
    /// it.
    void launch(Trace& trace, const std::function<void()>& enqueue);

    /// Repeats `enqueue` until two times in a row agree within 1%, the clock then having settled, at most some twenty
    /// times; the last time.
    Seconds settle(const std::function<void()>& enqueue) const;

    /// A sentence on the launches so far that the power cap held down; none if there were none.
    std::vector<std::string> remarks() const;

  private:
    DeviceId id_;
    std::shared_ptr<const Nvml> nvml_;
    nvmlDevice_st* handle_ = nullptr;
    Stream stream_;
    EventTimer timer_;
    Buffer<ClockReading> readings_;
    int launches_ = 0;
    int capped_ = 0;
};

}  // namespace roof::gpu
