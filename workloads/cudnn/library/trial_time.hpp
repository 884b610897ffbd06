// How long a candidate takes on the current device, for choosing among some.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/stream.hpp"

#include <functional>

namespace roof::cudnn {

/// The least time of some runs of what `run` puts into the stream, after one that loads its kernels; of one alone if that is hopeless
/// beside `best`. Infinite if it fails.
Seconds least_time(const gpu::Stream& stream, const std::function<void()>& run, Seconds best);

}  // namespace roof::cudnn
