// A decoder for the few instructions that our kernels consist of. It reads the emitted bytes, so that what a kernel states
// is held against what the processor will see, and not against what the generator meant.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roof::cpu::test {

enum class Kind { add, mul, fma, add_words, load, store, other };

struct Instruction {
    Kind kind = Kind::other;
    int bytes = 0;  ///< it works on
    bool reads_memory = false;
    bool writes_memory = false;
};

/// Throws std::runtime_error at a byte it cannot place.
std::vector<Instruction> decode(std::span<const std::uint8_t> code);

}  // namespace roof::cpu::test
