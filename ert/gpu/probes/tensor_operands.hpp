// What the kernels of the tensor cores read and write: those of mma.sync for each lane of a warp, laid out as
// fragments; those of wgmma and tcgen05 for each block, laid out as in shared memory.
#pragma once

#include "ert/gpu/kernels/mma.hpp"
#include "ert/gpu/kernels/wgmma.hpp"
#include "ert/gpu/probes/matrices.hpp"

#include <cstddef>
#include <vector>

namespace roof::gpu {

/// The matrices of one warp: mma_factors A, one B for each chain.
struct MmaOperands {
    std::vector<Matrix> a;
    std::vector<Matrix> b;
    // [row of A][scale] and [column of B][scale] of each; empty where the instruction has none.
    std::vector<Matrix> scales_of_a{};
    std::vector<Matrix> scales_of_b{};
};

/// With random numbers the second A is the first negated, so that sums do not grow with the length of a launch.
MmaOperands mma_operands(TensorFormat instruction, Numbers numbers);

/// Laid out as MmaLaunch says.
std::vector<std::byte> lanes_of_a(TensorFormat instruction, const MmaOperands& operands);
std::vector<std::byte> lanes_of_b(TensorFormat instruction, const MmaOperands& operands);

/// [chain][lane][register] of one warp after `steps` steps, in the format of the sums.
std::vector<std::byte> lanes_of_sums(TensorFormat instruction, int chains, const MmaOperands& operands, int steps);

/// B is stored with k along its rows, as A is: n x k.
struct WgmmaOperands {
    std::vector<Matrix> a;  ///< wgmma_factors
    Matrix b;
    // [row][scale] of both A and of B; without values where the format has none.
    Matrix scales_of_a{};
    Matrix scales_of_b{};
};

/// Rows of A and of B. A row has wgmma_row_bytes.
struct Tile {
    int m = wgmma_m;
    int n = wgmma_n;
};

/// With random numbers the second A cancels the first.
WgmmaOperands wgmma_operands(TensorFormat instruction, Numbers numbers, Tile tile = {});

/// Laid out as WgmmaLaunch says.
std::vector<std::byte> image_of(TensorFormat instruction, const WgmmaOperands& operands);

/// [row][column] after `steps` steps, as tcgen05 writes them, in fp32 (int8: int32).
std::vector<std::byte> sums_by_row(TensorFormat instruction, const WgmmaOperands& operands, int steps);

/// [thread][register] of one block after `steps` steps, in fp32 (int8: int32).
std::vector<std::byte> sums_of_block(TensorFormat instruction, const WgmmaOperands& operands, int steps);

}  // namespace roof::gpu
