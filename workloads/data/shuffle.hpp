// The order of an epoch as a function without state, so that any worker can ask for any position.
#pragma once

#include <cstdint>

namespace roof::data {

/// Returns the image at `place` in the order of `key`: a permutation of 0 … count - 1. A Feistel network of four rounds
/// over the next power of four, repeated until the value is below `count` (fewer than four times on average).
std::uint64_t shuffled(std::uint64_t place, std::uint64_t count, std::uint64_t key);

/// Makes a key or a random seed from two numbers. Similar inputs give unrelated results (splitmix64).
std::uint64_t combined(std::uint64_t a, std::uint64_t b);

}  // namespace roof::data
