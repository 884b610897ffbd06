// How often a probe repeats its work in one launch, so that the host's clock and the launch latency of some 10 us do not
// show in its rate.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/stream.hpp"

#include <functional>

namespace roof::gpu {

/// Launches are sized to last about this long.
inline constexpr Seconds launch_length{0.02};

/// Device time of one repetition; one before it, not timed, loads the kernel and wakes the clocks.
Seconds pilot_time(const Stream& stream, const std::function<void()>& enqueue);

/// At least 1, at most `most`.
long long repeats_for_launch(Seconds one, long long most);

}  // namespace roof::gpu
