// The numbers in the arrays: pseudo-random, so that no memory can compress them, and the same on the device and the
// host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roof::gpu {

/// Word `index` of an array: a whole number below 2^20. Sums and triads of such numbers are exact in floats.
constexpr std::uint32_t number_at(std::size_t index)
{
    std::uint64_t x = index * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
    x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
    return static_cast<std::uint32_t>(x >> 44);
}

/// The sequence repeats after this many words, so that the host need not add up gigabytes.
inline constexpr std::size_t number_period = std::size_t{1} << 20;

/// Word `index` of an array, as enqueue_fill() writes it with that shift.
constexpr float array_word(std::size_t index, int shift = 0)
{
    return static_cast<float>(number_at((index + static_cast<std::size_t>(shift)) % number_period));
}

/// Ranks of the "allreduce" bench up to which every sum is exact, in whatever order it is made: numbers are below 2^20,
/// and a float holds whole numbers up to 2^24.
inline constexpr int most_ranks = 16;

/// The sum of all ranks' words at `index`. A rank's array has the rank as its shift.
constexpr float sum_of_ranks(std::size_t index, int ranks)
{
    float sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += array_word(index, rank);
    return sum;
}

}  // namespace roof::gpu
