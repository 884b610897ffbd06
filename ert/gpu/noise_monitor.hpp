// A stream whose launches are timed by events and monitored: the clock of the multiprocessors, which the kernel reads,
// and the memory clock, power, temperature and slowdowns that the driver reports. All go to the trace.
#pragma once

#include "ert/gpu/buffer.hpp"
#include "ert/gpu/clock_watch.hpp"
#include "ert/gpu/device.hpp"
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
    /// On the current device. `nvml` may be null. `holds`: the stream begins to work once all is enqueued, so that the
    /// time contains no launch by the host. Throws Error.
    MonitoredStream(DeviceId id, std::shared_ptr<const Nvml> nvml, bool holds = true);

    DeviceId id() const { return id_; }
    const Stream& stream() const { return stream_; }
    cudaStream_t get() const { return stream_.get(); }
    /// Written by the kernel. If it is not, the clock is the one that the driver reports.
    ClockReading* reading() const { return readings_.data(); }

    /// From now on called while launches last, as in EventTimer::time().
    void watch(std::function<void(Seconds)> while_running) { watch_ = std::move(while_running); }

    /// Device time of the work that `enqueue` puts into the stream, without monitoring. `beside`, if there is one, is
    /// called again and again meanwhile; nothing is then held, because so much work may not fit into the stream's
    /// queue.
    Seconds time(const std::function<void()>& enqueue, const std::function<void()>& beside = {}) const;

    /// Enqueues, as often as the trace asks, waits for the end, and passes device time, clock, conditions and
    /// disturbance to the trace.
    void launch(Trace& trace, const std::function<void()>& enqueue);

    /// Repeats `enqueue` until two times in a row agree within 1%, because the clock has then settled, at most some
    /// twenty times. Returns the last time.
    Seconds settle(const std::function<void()>& enqueue) const;

    /// What ClockWatch says of the launches so far, and clock event reasons that are not known here.
    std::vector<std::string> remarks() const;

  private:
    DeviceId id_;
    std::shared_ptr<const Nvml> nvml_;
    nvmlDevice_st* handle_ = nullptr;
    Stream stream_;
    EventTimer timer_;
    std::function<void(Seconds)> watch_;
    bool holds_;
    HostBuffer released_;
    Buffer<ClockReading> readings_;
    ClockWatch clocks_;
    unsigned long long unknown_ = 0;  ///< clock event reasons seen so far that are not known here
};

}  // namespace roof::gpu
