// Trains a network by loops on the host with the program of the GPU's step.
#pragma once

#include "tests/engine/layers/host_run.hpp"
#include "workloads/engine/layers/layers.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace roof::ir {

/// Choosers for tests. `fused`: products and convolutions compute all that their shapes have; `whole_norms`: a batch
/// norm is one operation.
Choosers loops(bool fused = true, bool whole_norms = false);
/// As loops(), with moments wherever they serve, and products that add their bias. Convolutions fuse nothing.
Choosers loops_of_moments();

/// Returns a parameter's values in PyTorch's order from the stored ones of all.
std::vector<float> in_pytorch_order(const Trained& trained, std::span<const float> stored);

class HostTraining {
  public:
    HostTraining(const model::Graph& graph, const Settings& settings, bool fused = true, bool whole_norms = false);
    HostTraining(const model::Graph& graph, const Settings& settings, const Choosers& choosers);
    HostTraining(const HostTraining&) = delete;
    HostTraining& operator=(const HostTraining&) = delete;

    /// Runs forward and backward on this rank's part of the hashed batch; returns the loss. `ready`: a gradient is
    /// complete.
    double differentiate(const std::function<void(std::size_t parameter)>& ready = {});
    /// Runs forward; returns the loss.
    double loss();
    void update();

    const StepProgram& list() const { return list_; }
    StepState& state() { return *memory_.state(); }
    const Memory& memory() const { return memory_; }
    std::vector<float> value(std::size_t parameter) const;
    std::vector<float> gradient(std::size_t parameter) const;
    std::vector<float> numbers(const Tensor& tensor) const;

  private:
    StepProgram list_;
    std::vector<std::byte> bytes_;
    Memory memory_;
};

}  // namespace roof::ir
