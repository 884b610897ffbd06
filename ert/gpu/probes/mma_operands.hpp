// What the lanes of a warp are given by, and give back to, the kernels of mma.sync: matrices laid out as fragments.
#pragma once

#include "ert/gpu/formats.hpp"
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

/// Of busy numbers, the second A undoes the first, so that sums stay where they are however long the launch.
MmaOperands mma_operands(Mma instruction, Numbers numbers);

/// As MmaLaunch has them.
std::vector<std::byte> lanes_of_a(Mma instruction, const MmaOperands& operands);
std::vector<std::byte> lanes_of_b(Mma instruction, const MmaOperands& operands);

/// [chain][lane][register] of one warp after so many steps, in the format of the sums.
std::vector<std::byte> lanes_of_sums(Mma instruction, int chains, const MmaOperands& operands, int steps);

}  // namespace roof::gpu
