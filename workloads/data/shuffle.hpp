// A new order of the images for every epoch, as a function: it needs no list, no lock and no history, so that any
// worker can ask for any place at any time.
#pragma once

#include <cstdint>

namespace roof::data {

/// The image at `place` in the order that `key` names: for each key a permutation of 0 … count - 1. A Feistel network
/// of four rounds over the next power of four, walked until it falls below `count` (fewer than four steps on
/// average).
std::uint64_t shuffled(std::uint64_t place, std::uint64_t count, std::uint64_t key);

/// A key, or the seed of a random sequence, from two numbers; near inputs give unrelated outputs (splitmix64).
std::uint64_t combined(std::uint64_t a, std::uint64_t b);

}  // namespace roof::data
