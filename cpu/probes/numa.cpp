// Probe "numa": the bandwidth of memory from the processors of one NUMA node to the memory of another, or of the same.
//
// Launched: the loops of probe "bandwidth", on all usable processors nearest to `cpu_node`, over arrays whose pages are
//   bound to `memory_node`. Nodes are numbered from 0 in the order of the system's numbers.
// Saturates: the memory of the node, or the links to it.
// Counts: the same as probe "bandwidth".
// Falsified by: the same as probe "bandwidth"; a page on another node than the one it was bound to.
#include "cpu/probes/probes.hpp"

#include "cpu/probes/choices.hpp"
#include "cpu/probes/stream_subject.hpp"

#include <algorithm>
#include <set>

namespace roof::cpu {
namespace {

class NumaBench : public Bench {
  public:
    explicit NumaBench(const ProbeContext& context)
        : Bench({"numa", Role::bandwidth, "cpu",
                 "Bytes that the instructions read and write, from all usable processors of one NUMA node to memory "
                 "bound to another or the same, checked by result and by where the pages lie."}),
          nodes_(context.nodes),
          maker_(std::make_shared<Workspace>(), context.history)
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override
    {
        constexpr long long most_nodes = 1023;
        Axis cpu_node{"cpu_node", "NUMA node whose processors are at work", {}, {}, true, 0, most_nodes};
        Axis memory_node{"memory_node", "NUMA node that holds the memory", {}, {}, true, 0, most_nodes};
        std::set<int> sockets;
        for (std::size_t i = 0; i < std::max<std::size_t>(1, nodes_.size()); ++i) {
            memory_node.defaults.push_back(std::to_string(i));
            const bool is_idle = nodes_.empty() || nodes_[i].processors.spread.empty();
            if (!is_idle && sockets.insert(nodes_[i].socket).second) cpu_node.defaults.push_back(std::to_string(i));
        }
        if (cpu_node.defaults.empty()) cpu_node.defaults = {"0"};
        return {operation_axis({"load", "copy"}), cpu_node, memory_node,
                working_set_axis("bytes, all arrays and threads together", {usual_node_set(machine)})};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device&) const override
    {
        if (nodes_.size() < 2) return "this machine has one NUMA node";
        for (const char* axis : {"cpu_node", "memory_node"}) {
            if (point.integer(axis) < static_cast<long long>(nodes_.size())) continue;
            return "this machine has " + std::to_string(nodes_.size()) + " NUMA nodes, numbered from 0";
        }
        if (node(point, "cpu_node").processors.spread.empty())
            return "no processor of NUMA node " + point.text("cpu_node") + " may be used";
        if (!array_extent(parse_array_operation(point.text("operation")), isas_for(best_isa, machine), share(point)))
            return too_small;
        return std::nullopt;
    }

    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device&) const override
    {
        return maker_.make(
            {parse_array_operation(point.text("operation")), isas_for(best_isa, machine), has_feature(machine, "fma"),
             share(point), Mapping{Pages::huge, node(point, "memory_node").number},
             node(point, "cpu_node").processors.spread, Resources::shared, point.without("round").str()});
    }

  private:
    const MemoryNode& node(const Point& point, const char* axis) const
    {
        return nodes_[static_cast<std::size_t>(point.integer(axis))];
    }

    std::size_t share(const Point& point) const
    {
        const std::size_t threads = node(point, "cpu_node").processors.spread.size();
        return static_cast<std::size_t>(point.integer("working_set")) / threads;
    }

    std::vector<MemoryNode> nodes_;
    StreamMaker maker_;
};

}  // namespace

std::unique_ptr<Bench> numa_bench(const ProbeContext& context)
{
    return std::make_unique<NumaBench>(context);
}

}  // namespace roof::cpu
