#include "ert/gpu/clock_watch.hpp"

#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::gpu {
namespace {

constexpr double held_below = 0.98;
constexpr double wrong_above = 1.005;

}  // namespace

Hertz clock_of(std::span<const ClockReading> readings)
{
    constexpr double least_nanoseconds = 50e3;  // the timer ticks every microsecond or so
    std::vector<double> clocks;
    for (const ClockReading& reading : readings) {
        if (reading.last_nanosecond <= reading.first_nanosecond) continue;
        const auto nanoseconds = static_cast<double>(reading.last_nanosecond - reading.first_nanosecond);
        if (nanoseconds < least_nanoseconds) continue;
        clocks.push_back(1e9 * static_cast<double>(reading.last_cycle - reading.first_cycle) / nanoseconds);
    }
    if (clocks.empty()) return {};
    const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
    std::ranges::nth_element(clocks, middle);
    return {*middle};
}

Seconds wait_for_clock(const std::function<GpuState()>& look, Hertz highest, const std::function<void(Seconds)>& rest)
{
    constexpr Seconds step{0.01};  // the driver's values are some tens of milliseconds old
    constexpr Seconds longest{0.5};
    const auto is_held = [highest](const GpuState& state) {
        return is_power_capped(state.slowdowns) && state.clock.value > 0 && state.clock < held_below * highest;
    };
    Seconds waited;
    for (; waited < longest && is_held(look()); waited = waited + step) rest(step);
    return waited;
}

void ClockWatch::look(Trace& trace, const GpuState& state, Hertz clock)
{
    trace.ran_at(clock);
    trace.ran_under(state.conditions);
    trace.disturbed(disturbance_in(state.slowdowns));
    trace.disturbed(saw(clock, is_power_capped(state.slowdowns)));
}

std::string_view ClockWatch::saw(Hertz clock, bool names_power_cap)
{
    ++launches_;
    if (highest_.value <= 0 || clock.value <= 0) return {};
    if (clock.value > wrong_above * highest_.value) return "the clock was read as above the card's highest";
    if (clock.value >= held_below * highest_.value) return {};
    lowest_ = std::min(lowest_, clock);
    ++held_;
    if (names_power_cap) ++capped_;
    return {};
}

std::vector<std::string> ClockWatch::remarks() const
{
    if (held_ == 0) return {};
    return {"the clock was below 98% of " + format_si(highest_.value, "Hz") + " in " + std::to_string(held_) + " of " +
            std::to_string(launches_) + " launches, down to " + format_si(lowest_.value, "Hz") +
            (capped_ > 0 ? "; the driver named the power cap in " + std::to_string(capped_) + " of them"
                         : "; the driver named no power cap")};
}

}  // namespace roof::gpu
