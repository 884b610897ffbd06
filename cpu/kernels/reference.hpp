// The host reference of a compute kernel: the same steps, one element at a time, in plain C++.
#pragma once

#include "cpu/kernels/operands.hpp"

namespace roof::cpu {

/// The exact result of `iterations` of the kernel's loop from the start values, in the kernel's lanes; zero in others.
RegisterFile reference(const ComputeKernel& kernel, const Operands& operands, int iterations);

/// Throws Error with chain and lane if the two differ in a lane that the kernel works on.
void check_same(const ComputeKernel& kernel, const RegisterFile& result, const RegisterFile& expected);

/// Throws Error if a value is zero, denormal or not finite, because a loop on such values may time exceptions.
void check_normal(const ComputeKernel& kernel, const RegisterFile& result);

}  // namespace roof::cpu
