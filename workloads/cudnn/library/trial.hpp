// What the trials of libraries' plans share: their time on the current device, their values, and the comparison of their
// results with those of our kernels.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/program/program.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace roof::cudnn {

/// Returns the minimum time of several runs after a warm-up. Stops after one timed run if that is far slower than
/// `best`. Infinite if a run fails.
Seconds least_time(const gpu::Stream& stream, const std::function<void()>& run, Seconds best);

/// Returns the time of one `enqueue` among several in a CUDA graph, as in a step: without launches by the host between them.
/// Infinite if a run fails or no graph can hold it.
Seconds time_in_graph(const gpu::Stream& stream, const std::function<void()>& enqueue);

/// Number of values of a pattern: a prime, so that no channel gets the same values periodically.
inline constexpr std::size_t pattern_length = 65521;

/// Returns values from `from` to `from` + 2.
std::vector<float> pattern(float from);
/// Fills the tensor with the values, again and again, in its precision. Throws Error.
void repeat(const std::vector<float>& values, const Tensor& tensor, const Memory& memory);
/// Returns whether the first values of both tensors agree: their distance is at most `tolerance` of the length of `due`.
/// Throws Error.
bool are_near(const Tensor& found, const Tensor& due, const Memory& memory, double tolerance);

}  // namespace roof::cudnn
