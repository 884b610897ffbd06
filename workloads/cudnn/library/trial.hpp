// What the trials of libraries' plans share: their time on the current device, their values, and the comparison of their
// results with those of our kernels.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/program/program.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
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

/// Tensors in memory of their own, and the pairs of them that two ways of computing must fill alike.
class Trial {
  public:
    const Memory& memory() const { return *memory_; }
    /// Results by our kernels, and by what is tried.
    const std::vector<std::pair<Tensor, Tensor>>& results() const { return results_; }

  protected:
    /// A tensor that fill() fills with the values, again and again.
    Tensor value(const Tensor& shape, std::vector<float> values);
    /// Plans and allocates the memory. Throws OutOfMemory.
    void place(const char* what_for);
    /// Sets all memory to zero, but for the values. Throws Error.
    void fill() const;
    /// Returns whether the results of each pair are near, once the device is idle. Throws Error.
    bool agrees(double tolerance) const;

    Program program_;
    std::vector<std::pair<Tensor, Tensor>> results_;

  private:
    std::vector<std::pair<Tensor, std::vector<float>>> filled_;
    std::optional<gpu::Buffer<std::byte>> bytes_;
    std::optional<Memory> memory_;
};

}  // namespace roof::cudnn
