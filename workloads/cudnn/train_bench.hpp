// The bench "train" of the GPU: training steps of every model, by cuDNN, cuBLASLt and kernels of this project.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"
#include "workloads/cudnn/step.hpp"

#include <filesystem>
#include <memory>
#include <utility>

namespace roof::cudnn {

class TrainBench : public Bench {
  public:
    /// `cache`: the folder in which choices of engines are kept, a file per GPU model; empty: nowhere. `nvml` may be null.
    explicit TrainBench(std::filesystem::path cache = {}, std::shared_ptr<const gpu::Nvml> nvml = {});

    std::vector<Axis> axes(const Machine& machine) const override;
    /// Of the device, and of those it is to work with.
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;
    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const override;

  private:
    std::unique_ptr<Subject> make_on_ranks(const Point& point, const Machine& machine, const Device& device) const;
    std::unique_ptr<Step> make_step(const Point& point, const Device& device, int workers,
                                    const data::Share& share) const;

    std::filesystem::path cache_;
    std::shared_ptr<const gpu::Nvml> nvml_;
};

}  // namespace roof::cudnn
