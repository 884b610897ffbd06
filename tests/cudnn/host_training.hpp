// A network trained by loops on the host, as the program of the GPU's step has it.
#pragma once

#include "tests/cudnn/host_run.hpp"
#include "workloads/cudnn/program/written.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace roof::cudnn {

/// Choosers that are content with anything. `fused`: whether bias and ReLU are computed with convolutions and products; `whole_norms`:
/// whether batch norms are one operation, as of a library.
Choosers loops(bool fused = true, bool whole_norms = false);

class HostTraining {
  public:
    HostTraining(const model::Graph& graph, const Settings& settings, bool fused = true, bool whole_norms = false);

    /// Forward and backward on the hashed batch, of several ranks on this one's share of it; returns the loss. `ready` is told when
    /// a parameter's gradient is whole.
    double differentiate(const std::function<void(std::size_t parameter)>& ready = {});
    void update();

    const Written& written() const { return written_; }
    StepState& state() { return *memory_.state(); }
    const Memory& memory() const { return memory_; }
    std::vector<float> value(std::size_t parameter) const;
    std::vector<float> gradient(std::size_t parameter) const;
    std::vector<float> numbers(const Tensor& tensor) const;

  private:
    Written written_;
    std::vector<std::byte> bytes_;
    Memory memory_;
};

}  // namespace roof::cudnn
