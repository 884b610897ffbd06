// Probe "numa": the bandwidth of memory from the processors of one NUMA node to the memory of another, or of the same.
//
// Launched: what probe "bandwidth" launches, on all usable processors nearest to `cpu_node`, over arrays whose pages are
//   bound to `memory_node`. The nodes are numbered from 0 in the order of the system's own numbers.
// Saturates: the memory of the node, or the links on the way there.
// Counts: as probe "bandwidth" does.
// Falsified by: what falsifies that; or a page that lies on another node than it was bound to.
#pragma once

#include "cpu/probes/stream_subject.hpp"
#include "cpu/topology.hpp"
#include "ert/method/bench/bench.hpp"

namespace roof::cpu {

class NumaBench : public Bench {
  public:
    NumaBench(std::vector<MemoryNode> nodes, std::shared_ptr<CoreHistory> history);

    std::string_view name() const override { return "numa"; }
    Role role() const override { return Role::bandwidth; }
    std::string_view description() const override;
    std::string_view device_kind() const override { return "cpu"; }
    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;
    /// A subject borrows the bench's memory: only the one made last may be launched.
    std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const override;

  private:
    const MemoryNode& node(const Point& point, const char* axis) const;
    std::size_t share(const Point& point) const;

    std::vector<MemoryNode> nodes_;
    std::unique_ptr<StreamMaker> maker_;
};

}  // namespace roof::cpu
