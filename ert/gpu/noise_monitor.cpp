#include "ert/gpu/noise_monitor.hpp"

#include "ert/gpu/check.hpp"

#include <array>
#include <cmath>

namespace roof::gpu {

namespace {

/// The timer ticks every microsecond or so: shorter kernels do not tell the clock.
constexpr double least_nanoseconds = 50e3;

nvmlDevice_st* find(const Nvml* nvml, DeviceId id)
{
    if (nvml == nullptr) return nullptr;
    std::array<char, 32> bus_id{};
    check(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), id.value));
    return nvml->device(bus_id.data());
}

}  // namespace

Hertz clock_of(const ClockReading& reading)
{
    const auto nanoseconds = static_cast<double>(reading.nanoseconds);
    if (nanoseconds < least_nanoseconds) return {};
    return {1e9 * static_cast<double>(reading.cycles) / nanoseconds};
}

MonitoredStream::MonitoredStream(DeviceId id, std::shared_ptr<const Nvml> nvml)
    : id_(id),
      nvml_(std::move(nvml)),
      handle_(find(nvml_.get(), id)),
      reading_(1, "the reading of the multiprocessors' clock")
{
}

Seconds MonitoredStream::time(const std::function<void()>& enqueue) const
{
    const CurrentDevice current(id_);
    return timer_.time(stream_, enqueue);
}

void MonitoredStream::launch(Trace& trace, const std::function<void()>& enqueue)
{
    const CurrentDevice current(id_);
    const ClockReading none;
    reading_.write({&none, 1});
    trace.took(timer_.time(stream_, enqueue));
    // Right after the launch, while the driver's averages still are the launch's.
    const GpuState state = handle_ != nullptr ? nvml_->look(handle_) : GpuState{};
    const Hertz clock = clock_of(reading_.read(0, 1).front());
    trace.ran_at(clock.value > 0 ? clock : state.clock);
    trace.ran_under(state.conditions);
    if (const std::string_view why = disturbance_in(state.slowdowns); !why.empty()) trace.disturbed(why);
    ++launches_;
    if (is_power_capped(state.slowdowns)) ++capped_;
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
    if (capped_ == 0) return {};
    return {"the power cap held the clock down in " + std::to_string(capped_) + " of " + std::to_string(launches_) +
            " launches"};
}

}  // namespace roof::gpu
