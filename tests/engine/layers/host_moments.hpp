// The loops of the operations that find a batch norm from moments. Sums in double.
#pragma once

#include "tests/engine/layers/host_values.hpp"

#include <vector>

namespace roof::ir {

void run_moments(const Covariance& op, const Memory& memory);
/// Returns mean and variance of each channel; what follows from them is the caller's.
std::vector<Moments> run_moments(const MomentStatistics& op, const Memory& memory);
void run_moments(const MomentGradient& op, const Memory& memory);
void run_moments(const MomentOffset& op, const Memory& memory);

}  // namespace roof::ir
