// The numbers that arrays hold: pseudo-random, so that no memory can compress them; made alike on the device and the host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roof::gpu {

/// Whole numbers below 2^20: floats in which sums and triads are exact. Word `index` of an array.
constexpr std::uint32_t number_at(std::size_t index)
{
    std::uint64_t x = index * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
    x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
    return static_cast<std::uint32_t>(x >> 44);
}

/// The sequence of an array repeats after so many words, so that the host need not add up gigabytes.
inline constexpr std::size_t number_period = std::size_t{1} << 20;

}  // namespace roof::gpu
