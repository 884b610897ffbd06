// The bench "train" of the CPU: training steps of every model, by oneDNN.
#pragma once

#include "ert/method/bench.hpp"
#include "workloads/onednn/settings.hpp"
#include "workloads/parallel/world.hpp"

#include <filesystem>
#include <utility>

namespace roof::onednn {

class TrainBench : public Bench {
  public:
    /// `memory`: the folder in which the choices of the algorithm `auto` are kept, a file per machine; empty: nowhere.
    explicit TrainBench(std::filesystem::path memory = {}) : memory_(std::move(memory)) {}

    std::string_view name() const override { return "train"; }
    Role role() const override { return Role::step; }
    std::string_view sentence() const override;
    std::string_view device_kind() const override { return "cpu"; }
    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> obstacle(const Point& point, const Machine& machine,
                                        const Device& device) const override;
    std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const override;

  private:
    std::unique_ptr<Subject> make_on_ranks(const Point& point, const Machine& machine,
                                           const parallel::World& world) const;
    Settings settings_of(const Point& point, const Machine& machine) const;

    std::filesystem::path memory_;
};

}  // namespace roof::onednn
