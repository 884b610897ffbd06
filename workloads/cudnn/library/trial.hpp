// What the trials of libraries' plans share: their time on the current device, their values, and the comparison of their
// results with those of our kernels.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/stream.hpp"
#include "ert/method/bench/search.hpp"
#include "workloads/cudnn/step_graph.hpp"
#include "workloads/engine/ir/program.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace roof::cudnn {

using namespace ir;  // a step's operations and program

/// The time of one run on the device; infinite if it fails.
double seconds_of(const gpu::Stream& stream, const std::function<void()>& run);

/// The search of ert/method/bench/search.hpp with the time for a trial on a GPU: among runs, or by a function of their times.
Fastest fastest_of(const gpu::Stream& stream, const std::vector<std::function<void()>>& candidates);
Fastest fastest_of(std::size_t candidates, const std::function<double(std::size_t)>& seconds);

/// Several `enqueue` in a CUDA graph, as in a step: without launches by the host between them.
class RunInGraph {
  public:
    RunInGraph(const gpu::Stream& stream, const std::function<void()>& enqueue);
    /// The time of one `enqueue` in a run of the graph; infinite if it fails or no graph can hold it.
    double seconds() const;

  private:
    static constexpr int repeated = 8;
    const gpu::Stream& stream_;
    std::optional<StepGraph> graph_;
};

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
    /// Makes fill() fill a tensor of the program likewise.
    void set(const Tensor& tensor, std::vector<float> values) { filled_.emplace_back(tensor, std::move(values)); }
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
