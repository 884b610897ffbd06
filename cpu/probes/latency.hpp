// Probe "latency": how long one load takes to come from whichever level of memory holds the working set.
//
// Launched: on one thread, a pointer chase through all 64-byte lines of the working set in one random cycle; a launch goes on
//   where the last one ended.
// Saturates: nothing. No load can start before the last has come, so only the way there and back counts. With small pages,
//   the look-up of the address counts as well, once the pages are more than the processor remembers.
// Counts: a line of 64 bytes for each load, so seconds x 64 / bytes is the time of a load.
// Falsified by: a chase that is not where the random order says after so many steps (after as many as there are lines: at its
//   start), or is there before; a time below what the processor's guide says of L1.
#pragma once

#include "cpu/kernels/chase.hpp"
#include "cpu/noise_monitor.hpp"
#include "cpu/probes/point_history.hpp"
#include "cpu/topology.hpp"
#include "cpu/workspace.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>
#include <vector>

namespace roof::cpu {

class LatencyBench : public Bench {
  public:
    LatencyBench(const Processors& processors, std::shared_ptr<CoreHistory> history,
                 std::shared_ptr<Workspace> workspace);

    std::string_view name() const override { return "latency"; }
    Role role() const override { return Role::latency; }
    std::string_view description() const override;
    std::string_view device_kind() const override { return "cpu"; }
    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;
    /// A subject borrows the workspace: of all that share it, only the one made last may be launched.
    std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const override;

    /// What outlives the subjects.
    struct Stock {
        std::vector<int> processor;  ///< one, or none if none may be used
        std::shared_ptr<CoreHistory> history;
        std::shared_ptr<Workspace> workspace;
        ChaseKernel kernel;
        PointHistory rounds;
    };

  private:
    std::shared_ptr<Stock> stock_;
};

}  // namespace roof::cpu
