// The host's word on what a compute kernel must yield: the same steps, one element at a time, in plain C++.
#pragma once

#include "cpu/kernels/mix.hpp"
#include "ert/base/precision.hpp"

#include <vector>

namespace roof::cpu {

/// `values`: one for each chain, of one lane; what they become after `iterations` of `steps`, to the last bit. `precision`:
/// fp64 or fp32.
std::vector<double> reference(const std::vector<Step>& steps, const Constants& constants, int iterations,
                              Precision precision, const std::vector<double>& values);

}  // namespace roof::cpu
