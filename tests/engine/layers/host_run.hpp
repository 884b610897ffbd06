// Runs a step's program by plain loops on the host. Tests the program, but neither kernels nor libraries.
#pragma once

#include "workloads/engine/ir/program.hpp"
#include "workloads/engine/settings.hpp"

namespace roof::ir {

/// Runs one stage. `memory` belongs to the placed program, `others` are the values that DescendProducts of other stages
/// update.
void run_on_host(const Program::Stage& stage, const Memory& memory, const std::vector<Tensor>& others = {});

}  // namespace roof::ir
