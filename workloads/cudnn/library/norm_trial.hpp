// Runs a pass of a batch norm by our kernels and by a library plan on the same values, to time and compare both.
#pragma once

#include "workloads/cudnn/library/trial.hpp"

#include <functional>

namespace roof::cudnn {

class NormTrial : public Trial {
  public:
    /// `workspace`: largest workspace of a plan in bytes. Throws OutOfMemory or Error.
    NormTrial(const NormShape& shape, std::size_t workspace, const gpu::Stream& stream);

    void enqueue_own() const;
    /// The operations of the plan. Only that of the shape's pass is set.
    const LibraryNorm& forward() const { return forward_; }
    const LibraryNormGradient& backward() const { return backward_; }

    /// Returns whether the plan's results equal ours within the precision's tolerance. Throws Error.
    bool agrees(const std::function<void()>& enqueue_plan) const;

  private:
    void write_forward(const Tensor& map, const Tensor& channels);
    void write_backward(const Tensor& map, const Tensor& channels);
    void fill() const;

    NormShape shape_;
    const gpu::Stream& stream_;
    Tensor workspace_;
    LibraryNorm forward_;
    LibraryNormGradient backward_;
    Statistics statistics_;  ///< of our kernels, for both passes
    Normalise normalise_;
    ReduceGradient reduce_;
    NormGradient spread_;
};

}  // namespace roof::cudnn
