// The CPU bench "train": training steps of every model, by oneDNN.
#pragma once

#include "workloads/engine/train_bench.hpp"

namespace roof::onednn {

class TrainBench : public engine::TrainBench {
  public:
    using Build = std::function<model::Graph(const std::string& name)>;
    /// Choices are remembered in one file per machine. `build`: as in engine::TrainTraits.
    explicit TrainBench(std::filesystem::path memory = {}, Build build = {});

  private:
    std::vector<Axis> own_axes(const Machine& machine) const override;
    std::optional<std::string> lacking(const Point& point, const Machine& machine, const Device& device) const override;
    std::filesystem::path choices_file(const Machine& machine, const Device& /*device*/) const override
    {
        return std::filesystem::path(machine.name) / "convolutions.csv";
    }
};

}  // namespace roof::onednn
