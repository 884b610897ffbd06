// How work is divided into pieces, and the distances between rows in memory.
#pragma once

#include <cstddef>

namespace roof::kernels {

/// From `begin` to before `end`.
struct Range {
    int begin = 0;
    int end = 0;
};

/// A thread's part of `count` things.
constexpr Range share_of(int count, int thread, int threads)
{
    return {static_cast<int>(1LL * count * thread / threads), static_cast<int>(1LL * count * (thread + 1) / threads)};
}

/// What lies in both; empty where they do not meet.
constexpr Range common(const Range& one, const Range& other)
{
    const int begin = one.begin > other.begin ? one.begin : other.begin;
    const int end = one.end < other.end ? one.end : other.end;
    return {begin, end > begin ? end : begin};
}

/// The size of pieces of nearly equal size, of which none exceeds `most`.
constexpr int even_piece(int count, int most)
{
    const int pieces = (count + most - 1) / most;
    return (count + pieces - 1) / pieces;
}

/// At least so many numbers: whole cache lines, an odd number of them, for what lies a power of two apart shares few
/// sets of a cache.
constexpr std::size_t odd_lines(std::size_t numbers)
{
    constexpr std::size_t line = 16;
    return ((numbers + line - 1) / line | 1U) * line;
}

}  // namespace roof::kernels
