// Times a candidate on the current device.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/stream.hpp"

#include <functional>

namespace roof::cudnn {

/// Returns the minimum time of several runs after a warm-up. Stops after one timed run if that is far slower than
/// `best`. Infinite if a run fails.
Seconds least_time(const gpu::Stream& stream, const std::function<void()>& run, Seconds best);

/// Returns the time of one `enqueue` among several in a CUDA graph, as in a step: without launches by the host between them.
/// Infinite if a run fails or no graph can hold it.
Seconds time_in_graph(const gpu::Stream& stream, const std::function<void()>& enqueue);

}  // namespace roof::cudnn
