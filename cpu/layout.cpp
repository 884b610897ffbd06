// Cores and caches from hwloc.
#include "cpu/topology.hpp"
#include "ert/base/error.hpp"

#include <algorithm>
#include <memory>

#include <hwloc.h>
#include <sched.h>

namespace roof::cpu {

namespace {

struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyOwner = std::unique_ptr<hwloc_topology, Destroy>;

TopologyOwner load()
{
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) throw Error("hwloc cannot be initialised");
    TopologyOwner owner(topology);
    // Reads the whole machine, so that processors which this process may not use are reported too.
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(topology) != 0) throw Error("hwloc cannot read the topology of this machine");
    return owner;
}

int count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    return std::max(1, hwloc_get_nbobjs_by_type(topology, type));
}

using Cores = std::vector<std::vector<int>>;

/// The allowed processors of each core that has any.
Cores allowed_by_core(hwloc_topology_t topology, const cpu_set_t& allowed)
{
    Cores cores;
    hwloc_obj_t last_core = nullptr;
    hwloc_obj_t unit = nullptr;
    while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
        if (!CPU_ISSET(unit->os_index, &allowed)) continue;
        const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
        if (cores.empty() || core == nullptr || core != last_core) cores.emplace_back();
        cores.back().push_back(static_cast<int>(unit->os_index));
        last_core = core;
    }
    return cores;
}

Processors in_both_orders(const Cores& cores)
{
    std::size_t most = 0;
    for (const auto& core : cores) most = std::max(most, core.size());
    Processors processors;
    for (std::size_t sibling = 0; sibling < most; ++sibling) {
        for (const auto& core : cores) {
            if (sibling < core.size()) processors.spread.push_back(core[sibling]);
        }
    }
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
        nodes.push_back({static_cast<int>(node->os_index), in_both_orders(near)});
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

}  // namespace

Layout layout_of(hwloc_topology_t topology, const cpu_set_t& allowed)
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
    return layout;
}

Layout read_layout()
{
    const TopologyOwner owner = load();
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    return layout_of(owner.get(), allowed);
}

}  // namespace roof::cpu
