// A pass of a convolution with what its shape has beside it, on memory of its own: as one plan of the library, and as a
// plan of the bare pass between our kernels.
#pragma once

#include "workloads/cudnn/library/trial.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace roof::cudnn {

class ConvolutionTrial : public Trial {
  public:
    /// Fills the memory with values. Throws OutOfMemory or Error.
    ConvolutionTrial(const ConvolutionPass& shape, const gpu::Stream& stream);

    /// Returns the operation with all that the shape has, and the bare pass. Both are in memory().
    const Convolve& whole() const { return whole_; }
    const Convolve& alone() const { return alone_; }
    /// Returns at least so many bytes, until it is called again; null for none. Throws OutOfMemory.
    void* workspace(std::size_t bytes);

    /// Returns whether the one way takes less time than the other with our kernels around it, each in a CUDA graph. Two
    /// passes read a scaled source: each is charged half of the normalisation.
    bool gains(const std::function<void()>& run_whole, const std::function<void()>& run_alone) const;
    /// Returns whether both ways compute the same within the precision's tolerance. Throws Error.
    bool agrees(const std::function<void()>& run_whole, const std::function<void()>& run_alone) const;

  private:
    using Operations = std::vector<ir::Operation>;
    void enqueue(const Operations& operations) const;

    const gpu::Stream& stream_;
    ConvolutionPass shape_;
    Convolve whole_, alone_;
    Operations before_, behind_;  ///< the bare pass, by our kernels
    Operations behind_whole_;
    std::unique_ptr<gpu::Buffer<std::byte>> workspace_;
};

}  // namespace roof::cudnn
