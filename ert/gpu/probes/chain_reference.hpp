// The expected results of the chains of the "flops" bench, computed on the host to the last bit.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/gpu/kernels/chains.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace roof::gpu {

/// f and c of the first instruction, f and c of the second: numbers of the precision with busy significands, the second
/// undoing the first but for its rounding, so that chains neither die out nor overflow.
std::array<double, 4> chain_constants(const ChainKernel& kernel);

/// `count` pseudo-random numbers of the precision, of [1, 2) or all integers.
std::vector<double> chain_starts(Precision precision, std::size_t count);

/// The values after `pairs` pairs of instructions.
std::vector<double> chain_ends(const ChainKernel& kernel, std::span<const double> starts, int pairs);

}  // namespace roof::gpu
