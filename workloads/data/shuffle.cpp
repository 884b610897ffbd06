// Cycle walking restricts a permutation to a smaller range.
#include "workloads/data/shuffle.hpp"

namespace roof::data {
namespace {

constexpr int rounds = 4;

std::uint64_t scrambled(std::uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9U;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/// A permutation of the numbers of 2 * half_bits bits, for any `combined`.
std::uint64_t permuted(std::uint64_t value, int half_bits, std::uint64_t key)
{
    const std::uint64_t mask = (1ULL << half_bits) - 1;
    std::uint64_t left = value >> half_bits;
    std::uint64_t right = value & mask;
    for (int round = 0; round < rounds; ++round) {
        const std::uint64_t turned = left ^ (combined(key + static_cast<std::uint64_t>(round), right) & mask);
        left = right;
        right = turned;
    }
    return (left << half_bits) | right;
}

}  // namespace

std::uint64_t combined(std::uint64_t a, std::uint64_t b)
{
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15U;
    return scrambled(scrambled(a + golden_ratio) + b * golden_ratio);
}

std::uint64_t shuffled(std::uint64_t place, std::uint64_t count, std::uint64_t key)
{
    int half_bits = 1;
    while ((1ULL << (2 * half_bits)) < count) ++half_bits;
    do {
        place = permuted(place, half_bits, key);
    } while (place >= count);
    return place;
}

}  // namespace roof::data
