#include "ert/gpu/probes/launch_length.hpp"

#include "ert/gpu/event_timer.hpp"

#include <algorithm>

namespace roof::gpu {

Seconds pilot_time(const Stream& stream, const std::function<void()>& enqueue)
{
    const EventTimer timer;
    timer.time(stream, enqueue);
    return timer.time(stream, enqueue);
}

long long repeats_for_launch(Seconds one, long long most)
{
    // Compared as doubles: a pilot too short for the events' resolution would overflow the integer.
    const double repeats = one.value > 0 ? launch_length / one : static_cast<double>(most);
    return static_cast<long long>(std::clamp(repeats, 1.0, static_cast<double>(most)));
}

}  // namespace roof::gpu
