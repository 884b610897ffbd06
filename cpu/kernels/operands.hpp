// What a compute kernel is given to work on: start values of its chains, and the constants its instructions read.
#pragma once

#include "cpu/kernels/compute_kernel.hpp"
#include "cpu/kernels/registers.hpp"

namespace roof::cpu {

struct Operands {
    RegisterFile start;      ///< a register for each chain, as the kernel's accumulators
    RegisterFile constants;  ///< three registers of the precision's elements
};

/// Keep every value normal for any number of steps, and no value trivial where the hardware might notice:
///
/// - fma swings between x and -1 - x, a product between x and -x; a sum falls until its last place exceeds 1, and stays.
/// - A division by f and one by its reciprocal g alternate. Both are short enough to be exact, and their product so near
///   to 1 that the pair leads back to the same x, to the bit.
/// - A square root from below 1 climbs to the last number before 1, all of whose digits are set, and stays.
/// - A product of A and B and one of A and -B alternate: sums swing between x and x + A · B. All are whole numbers, so
///   exact in any order.
Operands steady_operands(const ComputeKernel& kernel);

/// Make every step show in the result of a few dozen, all of it exact or rounded as the reference does it.
Operands telling_operands(const ComputeKernel& kernel);

}  // namespace roof::cpu
