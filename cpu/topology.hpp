// The machine as it reports itself: cores, caches, instruction sets, and the doubts about those reports. No number here is
// measured; where two reports disagree, both are kept.
#pragma once

#include "ert/method/machine.hpp"

#include <vector>

namespace roof::cpu {

struct Topology {
    Machine machine;  ///< with the device "cpu"
    /// The processors this process may use, one of every core first, then their siblings.
    std::vector<int> processors;
};

/// Throws Error if the topology cannot be read at all.
Topology read_topology();

/// The cores and caches of this machine, as far as the process may use them.
struct Layout {
    int sockets = 1;
    int numa_nodes = 1;
    int cores = 0;            ///< with at least one allowed thread
    int threads = 0;          ///< allowed by the affinity mask
    int machine_threads = 0;  ///< whether allowed or not
    std::vector<int> processors;
    std::vector<MemoryLevel> caches;  ///< L1 (data) outwards
};
Layout read_layout();

}  // namespace roof::cpu
