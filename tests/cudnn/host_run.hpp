// Runs a step's program by plain loops on the host with the formulas of the GPU. Tests the order of operations, memory
// and tensors of the program; does not test kernels and libraries.
#pragma once

#include "workloads/cudnn/program/program.hpp"
#include "workloads/cudnn/program/settings.hpp"

namespace roof::cudnn {

/// Runs one stage. `memory` belongs to the placed program.
void run_on_host(const Program::Stage& stage, const Memory& memory);

}  // namespace roof::cudnn
