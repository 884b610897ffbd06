// Resources that all CPU probes share.
#pragma once

#include "cpu/noise_monitor.hpp"
#include "cpu/topology.hpp"
#include "cpu/workspace.hpp"

#include <memory>
#include <vector>

namespace roof::cpu {

/// The workspace is shared: of all subjects made from one context, only the last one may be launched.
struct ProbeContext {
    Processors processors;
    std::vector<MemoryNode> nodes;
    std::vector<int> thread_counts;  ///< to measure by default; empty: one, and all that this process may use
    std::shared_ptr<CoreHistory> history = std::make_shared<CoreHistory>();
    std::shared_ptr<Workspace> workspace = std::make_shared<Workspace>();
};

}  // namespace roof::cpu
