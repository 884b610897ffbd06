// Divides work into pieces and computes row distances in memory.
#pragma once

#include <cstddef>

namespace roof::kernels {

/// The half-open range [begin, end).
struct Range {
    int begin = 0;
    int end = 0;
};

/// One thread's part of `count` items.
constexpr Range share_of(int count, int thread, int threads)
{
    return {static_cast<int>(1LL * count * thread / threads), static_cast<int>(1LL * count * (thread + 1) / threads)};
}

/// The intersection; empty if the ranges do not overlap.
constexpr Range common(const Range& one, const Range& other)
{
    const int begin = one.begin > other.begin ? one.begin : other.begin;
    const int end = one.end < other.end ? one.end : other.end;
    return {begin, end > begin ? end : begin};
}

/// The size of nearly equal pieces, at most `most` each.
constexpr int even_piece(int count, int most)
{
    const int pieces = (count + most - 1) / most;
    return (count + pieces - 1) / pieces;
}

/// `numbers` rounded up to an odd number of cache lines. Rows a power of two apart would share a few cache sets.
constexpr std::size_t odd_lines(std::size_t numbers)
{
    constexpr std::size_t line = 16;
    return ((numbers + line - 1) / line | 1U) * line;
}

}  // namespace roof::kernels
