// A network trained by loops on the host, as the program of the GPU's step has it.
#pragma once

#include "tests/cudnn/host_run.hpp"
#include "workloads/cudnn/written.hpp"

#include <cstddef>
#include <vector>

namespace roof::cudnn {

/// Choosers that are content with anything. `fused`: whether bias and ReLU are computed with convolutions and products.
Choosers loops(bool fused = true);

class HostTraining {
  public:
    HostTraining(const model::Graph& graph, const Settings& settings, bool fused = true);

    /// Forward and backward on the hashed batch; returns the loss.
    double differentiate();
    void update();

    const Written& written() const { return written_; }
    StepState& state() { return *memory_.state(); }
    std::vector<float> value(std::size_t parameter) const;
    std::vector<float> gradient(std::size_t parameter) const;
    std::vector<float> numbers(const Tensor& tensor) const;

  private:
    Written written_;
    std::vector<std::byte> bytes_;
    Memory memory_;
};

}  // namespace roof::cudnn
