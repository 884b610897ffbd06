// Probe "core_to_core": how long a line takes from one core to another. Two cores under one last cache hand it over there; from one
// last cache to another it goes the longer way by memory's side. A machine that moves its processors about, as hosts do with
// those of their guests, has two answers: and with them two rates of the last cache and of memory, when several threads ask.
//
// Launched: two threads, each on its core, that write one line in turns: each waits until it reads the other's number, and
//   writes the next.
// Saturates: nothing: one line is under way at a time.
// Counts: a line of 64 bytes for each handover, so seconds x 64 / bytes is the time of one.
// Falsified by: a last number that is not that of the handovers asked for.
#pragma once

#include "cpu/noise_monitor.hpp"
#include "cpu/topology.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>
#include <vector>

namespace roof::cpu {

class CoreToCoreBench : public Bench {
  public:
    CoreToCoreBench(const Processors& processors, std::shared_ptr<CoreHistory> history);

    std::string_view name() const override { return "core_to_core"; }
    Role role() const override { return Role::latency; }
    std::string_view description() const override;
    std::string_view device_kind() const override { return "cpu"; }
    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;
    std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const override;

  private:
    std::vector<int> spread_;  ///< one processor of each core after the other
    std::shared_ptr<CoreHistory> history_;
};

}  // namespace roof::cpu
