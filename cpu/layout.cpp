// Cores and caches from hwloc.
#include "cpu/topology.hpp"
#include "ert/base/error.hpp"
#include "ert/base/processors.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hwloc.h>
#include <unistd.h>

namespace roof::cpu {
namespace {

struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyOwner = std::unique_ptr<hwloc_topology, Destroy>;

/// Without hwloc's variables in the environment: a batch system's HWLOC_XMLFILE or HWLOC_SYNTHETIC is another machine.
TopologyOwner load()
{
    std::vector<std::string> hidden;
    for (char** line = environ; *line != nullptr; ++line)
        if (std::string_view(*line).starts_with("HWLOC_")) hidden.emplace_back(*line);
    const auto name = [](const std::string& line) { return line.substr(0, line.find('=')); };
    for (const std::string& line : hidden) ::unsetenv(name(line).c_str());
    hwloc_topology_t topology = nullptr;
    TopologyOwner owner(hwloc_topology_init(&topology) == 0 ? topology : nullptr);
    // Reads the whole machine, so that processors which this process may not use are reported too.
    if (owner) hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    const bool is_read = owner && hwloc_topology_load(topology) == 0;
    for (const std::string& line : hidden) ::setenv(name(line).c_str(), line.substr(line.find('=') + 1).c_str(), 1);
    if (!is_read) throw Error("hwloc cannot read the topology of this machine");
    return owner;
}

int count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    return std::max(1, hwloc_get_nbobjs_by_type(topology, type));
}

struct Core {
    std::vector<int> processors;  ///< the allowed ones
    int kind = 0;                 ///< higher: faster
    int socket = 0;

    auto begin() const { return processors.begin(); }
    auto end() const { return processors.end(); }
    std::size_t size() const { return processors.size(); }
    int front() const { return processors.front(); }
};
using Cores = std::vector<Core>;

/// The rank of a processor's kind of core, from 0; 0 if the system does not tell kinds apart.
int kind_of(hwloc_topology_t topology, hwloc_obj_t unit)
{
    const int kind = hwloc_cpukinds_get_by_cpuset(topology, unit->cpuset, 0);
    int efficiency = 0;
    if (kind < 0 ||
        hwloc_cpukinds_get_info(topology, static_cast<unsigned>(kind), nullptr, &efficiency, nullptr, nullptr, 0) != 0)
        return 0;
    return std::max(0, efficiency);
}

int socket_of(hwloc_topology_t topology, hwloc_obj_t unit)
{
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, unit);
    return package == nullptr ? 0 : static_cast<int>(package->logical_index);
}

/// The cores that have an allowed processor, the fastest kind first.
Cores allowed_by_core(hwloc_topology_t topology, const std::vector<int>& allowed)
{
    Cores cores;
    hwloc_obj_t last_core = nullptr;
    hwloc_obj_t unit = nullptr;
    while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
        if (!std::ranges::binary_search(allowed, static_cast<int>(unit->os_index))) continue;
        const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
        if (cores.empty() || core == nullptr || core != last_core)
            cores.push_back({{}, kind_of(topology, unit), socket_of(topology, unit)});
        cores.back().processors.push_back(static_cast<int>(unit->os_index));
        last_core = core;
    }
    std::ranges::stable_sort(cores, std::ranges::greater(), &Core::kind);
    return cores;
}

Processors in_both_orders(const Cores& cores)
{
    std::size_t most = 0;
    for (const auto& core : cores) most = std::max(most, core.size());
    Processors processors;
    for (std::size_t sibling = 0; sibling < most; ++sibling)
        for (const auto& core : cores)
            if (sibling < core.size()) processors.spread.push_back(core.processors[sibling]);
    for (const auto& core : cores) processors.packed.insert(processors.packed.end(), core.begin(), core.end());
    return processors;
}

std::vector<MemoryNode> nodes_of(hwloc_topology_t topology, const Cores& cores)
{
    std::vector<MemoryNode> nodes;
    hwloc_obj_t node = nullptr;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
        Cores near;
        for (const auto& core : cores) {
            const auto unit = static_cast<unsigned>(core.front());
            if (hwloc_bitmap_isset(node->cpuset, unit) != 0) near.push_back(core);
        }
        const int socket = socket_of(topology, node);
        nodes.push_back({static_cast<int>(node->os_index), in_both_orders(near), socket});
    }
    std::ranges::sort(nodes, {}, &MemoryNode::number);
    return nodes;
}

std::vector<MemoryLevel> caches_of(hwloc_topology_t topology)
{
    constexpr hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE};
    std::vector<MemoryLevel> caches;
    for (int level = 1; level <= 4; ++level) {
        const int instances = hwloc_get_nbobjs_by_type(topology, types[level - 1]);
        if (instances <= 0) continue;
        const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, types[level - 1], 0);
        caches.push_back({"L" + std::to_string(level), Bytes{static_cast<double>(cache->attr->cache.size)}, instances,
                          hwloc_bitmap_weight(cache->cpuset)});
    }
    return caches;
}

/// What hwloc knows of the first package, by the keys of /proc/cpuinfo.
std::map<std::string, std::string> processor_in(hwloc_topology_t topology)
{
    std::map<std::string, std::string> facts;
    const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    for (const auto& [key, name] : {std::pair{"vendor_id", "CPUVendor"},
                                    {"model name", "CPUModel"},
                                    {"cpu family", "CPUFamilyNumber"},
                                    {"model", "CPUModelNumber"},
                                    {"stepping", "CPUStepping"}})
        if (const char* text = package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, name))
            facts[key] = text;
    return facts;
}

AlikeCores alike_cores(const Cores& cores, const std::vector<MemoryNode>& nodes)
{
    AlikeCores alike;
    const auto is_near = [](const MemoryNode& node, int processor) {
        return std::ranges::count(node.processors.spread, processor) > 0;
    };
    const int first = cores.front().front();
    for (const Core& core : cores) {
        if (core.kind != cores.front().kind) continue;
        alike.processors.insert(alike.processors.end(), core.begin(), core.end());
        const bool near = std::ranges::any_of(
            nodes, [&](const MemoryNode& node) { return is_near(node, first) && is_near(node, core.front()); });
        if (near || core.front() == first) alike.near.push_back(core.front());
    }
    return alike;
}

Processors first(Processors processors, int count)
{
    const auto most = std::min(processors.spread.size(), static_cast<std::size_t>(count));
    processors.spread.resize(most);
    processors.packed.resize(most);
    return processors;
}

}  // namespace

Layout layout_of(hwloc_topology_t topology, const std::vector<int>& allowed)
{
    const Cores cores = allowed_by_core(topology, allowed);
    Layout layout;
    layout.processors = in_both_orders(cores);
    layout.sockets = count(topology, HWLOC_OBJ_PACKAGE);
    layout.numa_nodes = count(topology, HWLOC_OBJ_NUMANODE);
    layout.machine_threads = count(topology, HWLOC_OBJ_PU);
    layout.cores = static_cast<int>(cores.size());
    layout.threads = static_cast<int>(layout.processors.spread.size());
    layout.nodes = nodes_of(topology, cores);
    layout.caches = caches_of(topology);
    layout.processor = processor_in(topology);
    if (cores.empty()) return layout;
    const Core& first = cores.front();
    const auto as_first = [&](auto same) { return static_cast<int>(std::ranges::count_if(cores, same)); };
    layout.fast_cores = as_first([&](const Core& core) { return core.kind == first.kind; });
    layout.cores_of_socket = as_first([&](const Core& core) { return core.socket == first.socket; });
    for (const MemoryNode& node : layout.nodes) {
        const std::vector<int>& near = node.processors.spread;
        if (std::ranges::find(near, first.front()) == near.end()) continue;
        layout.cores_of_node = as_first([&](const Core& core) { return std::ranges::count(near, core.front()) > 0; });
    }
    layout.alike = alike_cores(cores, layout.nodes);
    return layout;
}

Topology granted_topology(const Layout& layout, double quota)
{
    const int most = std::max(1, layout.threads);
    const int granted = quota > 0 ? std::clamp(static_cast<int>(quota), 1, most) : most;
    Topology topology;
    topology.processors = first(layout.processors, granted);
    for (const MemoryNode& node : layout.nodes)
        topology.nodes.push_back({node.number, first(node.processors, granted), node.socket});
    topology.alike = layout.alike;
    for (std::vector<int>* processors : {&topology.alike.processors, &topology.alike.near})
        std::erase_if(*processors,
                      [&](int processor) { return std::ranges::count(topology.processors.spread, processor) == 0; });
    std::vector<int>& counts = topology.thread_counts;
    counts = {1, layout.fast_cores, layout.cores_of_node, layout.cores_of_socket, layout.cores, layout.threads};
    for (int& count : counts) count = std::clamp(count, 1, granted);
    std::ranges::sort(counts);
    const auto repeated = std::ranges::unique(counts);
    counts.erase(repeated.begin(), repeated.end());
    return topology;
}

Layout read_layout()
{
    const TopologyOwner owner = load();
    const std::vector<int> allowed = processors_of_thread();
    if (allowed.empty()) throw Error("the kernel does not say which processors this process may use");
    return layout_of(owner.get(), allowed);
}

}  // namespace roof::cpu
