// A pass of a batch norm computed by our own kernels and by a library's plan, side by side on made-up values of the shape: for timing
// both, and for seeing that the plan computes what our kernels do.
#pragma once

#include "ert/gpu/buffer.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/program/program.hpp"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace roof::cudnn {

class NormTrial {
  public:
    /// `workspace`: bytes, the most that a plan takes. Throws OutOfMemory or Error.
    NormTrial(const NormShape& shape, std::size_t workspace, const gpu::Stream& stream);

    void enqueue_own() const;
    /// What the plan is to compute; of the shape's pass alone.
    const LibraryNorm& forward() const { return forward_; }
    const LibraryNormGradient& backward() const { return backward_; }
    const Memory& memory() const { return *memory_; }

    /// Whether the plan's results are ours within the precision's reach: both start from the same values. Throws Error.
    bool agrees(const std::function<void()>& enqueue_plan) const;

  private:
    void write_forward(const Tensor& map, const Tensor& channels);
    void write_backward(const Tensor& map, const Tensor& channels);
    Tensor value(const Tensor& shape);
    void fill() const;

    NormShape shape_;
    const gpu::Stream& stream_;
    Program program_;
    Tensor workspace_;
    LibraryNorm forward_;
    LibraryNormGradient backward_;
    Statistics statistics_;  ///< ours, of both passes
    Normalise normalise_;
    ReduceGradient reduce_;
    NormGradient spread_;
    std::vector<Tensor> values_;                      ///< to be filled with values of either sign
    std::vector<Tensor> ones_;                        ///< to be filled with ones
    std::vector<std::pair<Tensor, Tensor>> results_;  ///< ours, the plan's
    std::optional<gpu::Buffer<std::byte>> bytes_;
    std::optional<Memory> memory_;
};

}  // namespace roof::cudnn
