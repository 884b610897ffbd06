#include "ert/gpu/noise_monitor.hpp"

#include "ert/gpu/kernels/idle.hpp"

#include <cmath>
#include <sstream>

namespace roof::gpu {
namespace {

/// What the word that a held stream reads says.
constexpr unsigned wait = 0;
constexpr unsigned go = 1;

}  // namespace

MonitoredStream::MonitoredStream(DeviceId id, std::shared_ptr<const Nvml> nvml, bool holds)
    : id_(id),
      nvml_(std::move(nvml)),
      handle_(device_in(nvml_.get(), id)),
      holds_(holds),
      released_(sizeof(unsigned), HostBuffer::Pages::pinned),
      readings_(clock_readings, "readings of the multiprocessors' clocks"),
      clocks_(highest_clock(id))
{
}

Seconds MonitoredStream::time(const std::function<void()>& enqueue, const std::function<void()>& beside) const
{
    const CurrentDevice current(id_);
    std::function<void(Seconds)> watch = watch_;
    if (beside)
        watch = [&](Seconds so_far) {
            if (watch_) watch_(so_far);
            beside();
        };
    if (!holds_ || beside) return timer_.time(stream_, enqueue, watch);
    auto* const released = reinterpret_cast<volatile unsigned*>(released_.data());
    *released = wait;
    enqueue_hold(released, stream_.get());
    const auto all = [&] {
        enqueue();
        *released = go;
    };
    return timer_.time(stream_, all, watch);
}

void MonitoredStream::launch(Trace& trace, const std::function<void()>& enqueue)
{
    const CurrentDevice current(id_);
    static const std::vector<ClockReading> none(clock_readings);
    readings_.write(none);
    const auto repeated = [&] {
        for (int i = 0; i < trace.repeats(); ++i) {
            enqueue();
            if (trace.beside()) trace.beside()();
        }
    };
    trace.took(time(repeated, trace.beside()), trace.repeats());
    // Right after the launch, while the driver's averages still are the launch's.
    const GpuState state = handle_ != nullptr ? nvml_->look(handle_) : GpuState{};
    const Hertz measured = clock_of(readings_.read(0, clock_readings));
    clocks_.look(trace, state, measured.value > 0 ? measured : state.clock);
    unknown_ |= unknown_in(state.slowdowns);
}

Seconds MonitoredStream::settle(const std::function<void()>& enqueue) const
{
    constexpr int most = 20;
    constexpr double agreed = 0.01;
    Seconds last = time(enqueue);
    for (int i = 0; i < most; ++i) {
        const Seconds next = time(enqueue);
        const bool is_settled = std::abs(next / last - 1) < agreed;
        last = next;
        if (is_settled) break;
    }
    return last;
}

std::vector<std::string> MonitoredStream::remarks() const
{
    std::vector<std::string> remarks = clocks_.remarks();
    if (unknown_ != 0) {
        std::ostringstream text;
        text << "the driver reported clock event reasons that are not known here: 0x" << std::hex << unknown_;
        remarks.push_back(text.str());
    }
    return remarks;
}

}  // namespace roof::gpu
