// The machine as it reports itself: cores, caches, instruction sets, and inconsistencies between the reports. Nothing here is
// measured; where two reports disagree, both are kept.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <vector>

#include <sched.h>

struct hwloc_topology;

namespace roof::cpu {

/// The same processors in the two orders in which threads may take them.
struct Processors {
    std::vector<int> spread;  ///< one of every core first, then their siblings
    std::vector<int> packed;  ///< all of one core before the next
};

/// A node of memory, and the processors nearest to it.
struct MemoryNode {
    int number = 0;  ///< the operating system's
    Processors processors;
};

struct Topology {
    Machine machine;  ///< with the device "cpu"
    /// Processors for this process; fewer where its control group grants less time.
    Processors processors;
    std::vector<MemoryNode> nodes;
};

/// Throws Error if the topology cannot be read at all.
Topology read_topology();

/// The cores and caches of this machine, as far as the process may use them.
struct Layout {
    int sockets = 1;
    int numa_nodes = 1;
    int cores = 0;                    ///< with at least one allowed thread
    int threads = 0;                  ///< allowed by the affinity mask
    int machine_threads = 0;          ///< whether allowed or not
    Processors processors;            ///< allowed
    std::vector<MemoryNode> nodes;    ///< by number; one may have no allowed processor
    std::vector<MemoryLevel> caches;  ///< L1 (data) outwards
};
Layout read_layout();

/// The layout of any topology that hwloc can describe, loaded, of whose processors those in `allowed` may be used.
Layout layout_of(hwloc_topology* topology, const cpu_set_t& allowed);

}  // namespace roof::cpu
