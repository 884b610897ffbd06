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

}  // namespace roof::gpu
