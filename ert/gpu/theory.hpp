// Spec rates of a multiprocessor from NVIDIA's documents. They are no ceilings; a ceiling must not exceed them.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <vector>

namespace roof::gpu {

/// FLOPs or bytes per clock and multiprocessor for a compute capability, 90 for 9.0. Empty if unknown.
std::vector<SpecRate> spec_rates_of(int capability);

}  // namespace roof::gpu
