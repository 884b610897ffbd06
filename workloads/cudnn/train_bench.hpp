// The bench "train" of the GPU: training steps of all models by cuDNN, cuBLASLt and this project's kernels.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "workloads/engine/train_bench.hpp"

namespace roof::cudnn {

class TrainBench : public engine::TrainBench {
  public:
    /// Choices are remembered in one file per GPU model. `nvml` may be null.
    explicit TrainBench(std::filesystem::path memory = {}, std::shared_ptr<const gpu::Nvml> nvml = {});

  private:
    std::vector<Axis> own_axes(const Machine& machine) const override;
    std::optional<std::string> lacking(const Point& point, const Machine& machine, const Device& device) const override;
    std::optional<std::string> lacking_for_ranks(const Point& point, const Device& device) const override;
    /// A single rank uses NCCL if its point sets `communication`: this measures the cost of that path and tests it.
    bool exchanges_alone(const Point& point) const override;
    std::filesystem::path choices_file(const Machine& machine, const Device& device) const override;
};

}  // namespace roof::cudnn
