// What the kernels of wgmma read and write for each block: matrices laid out as in shared memory.
#pragma once

#include "ert/base/formats.hpp"
#include "ert/gpu/kernels/wgmma.hpp"
#include "ert/gpu/probes/matrices.hpp"

#include <cstddef>
#include <vector>

namespace roof::gpu {

Format operand_format(Wgmma instruction);
Format sum_format(Wgmma instruction);

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
WgmmaOperands wgmma_operands(Wgmma instruction, Numbers numbers, Tile tile = {});

/// Laid out as WgmmaLaunch says.
std::vector<std::byte> image_of(Wgmma instruction, const WgmmaOperands& operands);

/// [row][column] after `steps` steps, as tcgen05 writes them, in fp32 (int8: int32).
std::vector<std::byte> sums_by_row(Wgmma instruction, const WgmmaOperands& operands, int steps);

/// [thread][register] of one block after `steps` steps, in fp32 (int8: int32; fp16_sums: fp16, two in a register).
std::vector<std::byte> sums_of_block(Wgmma instruction, const WgmmaOperands& operands, int steps);

}  // namespace roof::gpu
