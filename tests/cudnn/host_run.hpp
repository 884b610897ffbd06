// Runs a step's program by plain loops on the host. Tests the program, but neither kernels nor libraries.
#pragma once

#include "workloads/cudnn/program/program.hpp"
#include "workloads/cudnn/program/settings.hpp"

namespace roof::cudnn {

/// Runs one stage. `memory` belongs to the placed program.
void run_on_host(const Program::Stage& stage, const Memory& memory);

}  // namespace roof::cudnn
