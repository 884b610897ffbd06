// The input of the loops of probe "ert", and the check of their results.
#pragma once

#include "cpu/kernels/intensity_kernel.hpp"
#include "cpu/kernels/registers.hpp"
#include "cpu/workspace.hpp"

#include <cstddef>

namespace roof::cpu {

/// Element `index` of a slice: a pseudo-random multiple of 1/2 from -7.5 to 7.5. Sums of millions of them are small and
/// exact, also in fp32.
constexpr double ert_value(std::size_t index)
{
    return static_cast<double>(content(index) >> 40 & 15) - 7.5;
}

/// Writes ert_value() in the precision's format: fp64 or fp32.
Writer ert_writer(Precision precision);

/// `result`: the accumulators after `passes` passes of the kernel over `bytes` of ert_value() from element `first`.
/// Only a few passes, so that sums stay exact. Throws Error with the first wrong sum.
void check_ert(const IntensityKernel& kernel, std::size_t first, std::size_t bytes, std::size_t passes,
               const RegisterFile& result);

}  // namespace roof::cpu
