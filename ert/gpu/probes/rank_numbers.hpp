// The numbers that each rank of the "allreduce" bench holds, and their sums. Host code.
#pragma once

#include "ert/gpu/kernels/numbers.hpp"

#include <cstddef>

namespace roof::gpu {

/// Ranks up to which every sum is exact, in whatever order it is made: numbers are below 2^20, and a float holds whole
/// numbers up to 2^24.
inline constexpr int most_ranks = 16;

/// Word `index` of a rank's array, as enqueue_fill() writes it with the rank as shift.
constexpr float rank_word(std::size_t index, int rank)
{
    return static_cast<float>(number_at((index + static_cast<std::size_t>(rank)) % number_period));
}

/// The sum of all ranks' words at `index`.
constexpr float sum_of_ranks(std::size_t index, int ranks)
{
    float sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += rank_word(index, rank);
    return sum;
}

}  // namespace roof::gpu
