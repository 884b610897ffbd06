// The bench "train" of the GPU: training steps of all models by cuDNN, cuBLASLt and this project's kernels.
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
    /// `cache`: folder for stored choices, one file per GPU model; empty: none. `nvml` may be null.
    explicit TrainBench(std::filesystem::path cache = {}, std::shared_ptr<const gpu::Nvml> nvml = {});

    std::vector<Axis> axes(const Machine& machine) const override;
    /// Checks `device` and device.others.
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;
    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const override;

  private:
    std::unique_ptr<Subject> make_on_ranks(const Point& point, const Machine& machine, const Device& device) const;
    std::unique_ptr<Step> make_step(const Point& point, const Device& device, int workers, const data::Share& share,
                                    std::shared_ptr<engine::Choices> choices) const;
    std::shared_ptr<engine::Choices> choices_of(const Device& device) const;

    std::filesystem::path cache_;
    std::shared_ptr<const gpu::Nvml> nvml_;
};

}  // namespace roof::cudnn
