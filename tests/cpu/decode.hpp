// A decoder for the few instructions that our kernels consist of. It reads the emitted bytes, so that what a kernel states
// is held against what the processor will see, and not against what the generator meant.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roof::cpu::test {

enum class Kind { add, mul, fma, div, sqrt, dot, tile, add_words, load, store, prefetch, other };

/// Elements of arithmetic; `none` for the rest. A dot's and a tile's are those it multiplies.
enum class Element { none, fp64, fp32, fp16, bf16, int8 };

struct Instruction {
    Kind kind = Kind::other;
    Element element = Element::none;
    int bytes = 0;               ///< it works on
    int register_index = 0;      ///< the one that arithmetic and loads write, and stores read
    std::vector<int> sources{};  ///< the registers in the other operands
    bool reads_memory = false;
    bool writes_memory = false;
};

/// Throws std::runtime_error at a byte it cannot place.
std::vector<Instruction> decode(std::span<const std::uint8_t> code);

}  // namespace roof::cpu::test
