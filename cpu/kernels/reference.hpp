// The host's word on what a compute kernel must yield: the same steps, one element at a time, in plain C++.
#pragma once

#include "cpu/kernels/operands.hpp"

namespace roof::cpu {

/// What the start becomes after `iterations` of the kernel's loop, to the last bit, in the kernel's lanes; zero in others.
RegisterFile reference(const ComputeKernel& kernel, const Operands& operands, int iterations);

/// Throws Error, naming chain and lane, where the two differ in a lane that the kernel works on.
void check_same(const ComputeKernel& kernel, const RegisterFile& result, const RegisterFile& expected);

/// Throws Error if a value is zero, denormal or not finite: a loop of these times the handling of exceptions.
void check_normal(const ComputeKernel& kernel, const RegisterFile& result);

}  // namespace roof::cpu
