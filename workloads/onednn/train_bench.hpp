// The CPU bench "train": training steps of every model, by oneDNN.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "workloads/model/models.hpp"
#include "workloads/onednn/program/settings.hpp"
#include "workloads/parallel/world.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace roof::onednn {

class TrainBench : public Bench {
  public:
    /// Builds the network with this name. Throws InputError for an unknown name.
    using Build = std::function<model::Graph(const std::string& name)>;

    /// `memory`: the folder of the remembered choices of `auto`, one file per machine; empty: none. `build`: replaces
    /// the models by small networks, for tests.
    explicit TrainBench(
        std::filesystem::path memory = {},
        Build build = [](const std::string& name) { return model::build_model(name); });

    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;
    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const override;

  private:
    std::unique_ptr<Subject> make_on_ranks(const Point& point, const Machine& machine,
                                           const parallel::World& world) const;
    Settings settings_of(const Point& point, const Machine& machine) const;

    std::filesystem::path memory_;
    Build build_;
};

}  // namespace roof::onednn
