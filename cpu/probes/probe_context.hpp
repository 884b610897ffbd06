// What all probes of the CPU share.
#pragma once

#include "cpu/noise_monitor.hpp"
#include "cpu/topology.hpp"
#include "cpu/workspace.hpp"

#include <memory>
#include <vector>

namespace roof::cpu {

/// A subject borrows the workspace: of all subjects made from one context, only the one made last may be launched.
struct ProbeContext {
    Processors processors;
    std::vector<MemoryNode> nodes;
    std::shared_ptr<CoreHistory> history = std::make_shared<CoreHistory>();
    std::shared_ptr<Workspace> workspace = std::make_shared<Workspace>();
};

}  // namespace roof::cpu
