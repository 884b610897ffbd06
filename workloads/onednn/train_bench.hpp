// The bench "train" of the CPU: training steps of every model, by oneDNN.
#pragma once

#include "ert/method/bench.hpp"

namespace roof::onednn {

class TrainBench : public Bench {
  public:
    std::string_view name() const override { return "train"; }
    Role role() const override { return Role::step; }
    std::string_view sentence() const override;
    std::string_view device_kind() const override { return "cpu"; }
    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> obstacle(const Point& point, const Machine& machine,
                                        const Device& device) const override;
    std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const override;
};

}  // namespace roof::onednn
