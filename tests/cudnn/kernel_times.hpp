// Times a step's own kernels on the current device, each alone: to see which of them do not reach the memory's rate.
#pragma once

#include "ert/base/units.hpp"
#include "workloads/engine/settings.hpp"
#include "workloads/model/graph.hpp"

#include <string>
#include <vector>

namespace roof::cudnn {

/// One of the step's operations; those with the same operands are one.
struct KernelTime {
    std::string operation;  ///< "roof:normalise"
    std::string operands;   ///< "bf16 256x64x56x56, fp32 1x64x1x1"
    int launches = 0;       ///< in a step
    Bytes bytes;            ///< that one launch reads and writes
    Seconds each;           ///< least time of a launch
};

/// The operations of a stage that has several are timed together, too: the second finds in the L2 what the first left
/// there. The memory is that of a step, all zeros. Operations of the libraries are left out. Throws OutOfMemory or
/// Error.
std::vector<KernelTime> time_kernels(const model::Graph& graph, const engine::Settings& settings);

}  // namespace roof::cudnn
