// What a block of the kernels of wgmma is given and gives back: matrices laid out as shared memory is to hold them.
#pragma once

#include "ert/gpu/formats.hpp"
#include "ert/gpu/kernels/wgmma.hpp"
#include "ert/gpu/probes/matrices.hpp"

#include <cstddef>
#include <vector>

namespace roof::gpu {

Format operand_format(Wgmma instruction);

/// B is stored with k along its rows, as A is: n x k.
struct WgmmaOperands {
    std::vector<Matrix> a;  ///< wgmma_factors
    Matrix b;
};

/// Rows of A and of B, all as long as shared memory has them.
struct Tile {
    int m = wgmma_m;
    int n = wgmma_n;
};

/// Of busy numbers, the second A undoes the first.
WgmmaOperands wgmma_operands(Wgmma instruction, Numbers numbers, Tile tile = {});

/// As WgmmaLaunch has them.
std::vector<std::byte> image_of(Wgmma instruction, const WgmmaOperands& operands);

/// [row][column] after so many steps, as tcgen05 writes them, in fp32 (int8: int32).
std::vector<std::byte> sums_by_row(Wgmma instruction, const WgmmaOperands& operands, int steps);

/// [thread][register] of one block after so many steps, in fp32 (int8: int32).
std::vector<std::byte> sums_of_block(Wgmma instruction, const WgmmaOperands& operands, int steps);

}  // namespace roof::gpu
