// A training step's program run by plain loops on the host: what a GPU is to compute, from the same formulas. It shows that the
// program is right, its order, its memory, its tensors; what it cannot show is that kernels and libraries do as the loops.
#pragma once

#include "workloads/cudnn/program/program.hpp"
#include "workloads/cudnn/program/settings.hpp"

namespace roof::cudnn {

/// Runs one stage. `memory` is of the placed program.
void run_on_host(const Program::Stage& stage, const Memory& memory);

}  // namespace roof::cudnn
