// What the kernels of mma.sync read and write for each lane of a warp: matrices laid out as fragments.
#pragma once

#include "ert/base/formats.hpp"
#include "ert/gpu/kernels/mma.hpp"
#include "ert/gpu/probes/matrices.hpp"

#include <cstddef>
#include <vector>

namespace roof::gpu {

Format operand_format(Mma instruction);

/// The matrices of one warp: mma_factors A, one B for each chain.
struct MmaOperands {
    std::vector<Matrix> a;
    std::vector<Matrix> b;
};

/// With random numbers the second A is the first negated, so that sums do not grow with the length of a launch.
MmaOperands mma_operands(Mma instruction, Numbers numbers);

/// Laid out as MmaLaunch says.
std::vector<std::byte> lanes_of_a(Mma instruction, const MmaOperands& operands);
std::vector<std::byte> lanes_of_b(Mma instruction, const MmaOperands& operands);

/// [chain][lane][register] of one warp after `steps` steps, in the format of the sums.
std::vector<std::byte> lanes_of_sums(Mma instruction, int chains, const MmaOperands& operands, int steps);

}  // namespace roof::gpu
