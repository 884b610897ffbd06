// The inputs of a compute kernel (start values of its chains, and the constants its instructions read), and its host
// reference: the same steps, one element at a time, in plain C++.
#pragma once

#include "cpu/kernels/compute_loop.hpp"
#include "cpu/kernels/registers.hpp"

namespace roof::cpu {

struct Operands {
    RegisterFile start;      ///< one register per chain, in the accumulators' format
    RegisterFile constants;  ///< three registers of the precision's elements
};

/// Operands that keep every value normal and non-trivial for any number of steps:
///
/// - fma alternates between x and -1 - x, a product between x and -x. A sum falls until its last place exceeds 1, and
///   then stays; so rises AArch64's fma.
/// - A division by f alternates with one by its reciprocal g. Both are short enough to be exact, and their product is
///   so near 1 that the pair returns exactly to x.
/// - A square root from below 1 rises to the last number before 1, all of whose digits are set, and stays.
/// - A product of A and B alternates with one of A and -B: sums alternate between x and x + A · B. All are whole
///   numbers, so exact in any order.
Operands steady_operands(const ComputeLoop& loop);

/// Operands for which every step changes the result of a few dozen steps. Each step is exact or rounded as in the
/// reference.
Operands telling_operands(const ComputeLoop& loop);

/// The exact result of `iterations` of the kernel's loop from the start values, in the kernel's lanes; zero in others.
RegisterFile reference(const ComputeLoop& loop, const Operands& operands, int iterations);

/// Throws Error with chain and lane if the two differ in a lane that the kernel works on.
void check_same(const ComputeLoop& loop, const RegisterFile& result, const RegisterFile& expected);

/// Throws Error if a value is zero, denormal or not finite, because a loop on such values may time exceptions.
void check_normal(const ComputeLoop& loop, const RegisterFile& result);

}  // namespace roof::cpu
