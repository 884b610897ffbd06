// A decoder for the kernels' instructions. It reads the emitted bytes, so that tests compare a kernel's counts with the
// real code and not with the generator's intent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace roof::cpu::test {

enum class Kind { add, mul, fma, div, sqrt, dot, tile, add_words, load, store, prefetch, other };

/// The element type of arithmetic; `none` for other instructions. For dot and tile: the type of the factors.
enum class Element { none, fp64, fp32, fp16, bf16, int8 };

struct Instruction {
    Kind kind = Kind::other;
    Element element = Element::none;
    int bytes = 0;               ///< size of the operand
    int register_index = 0;      ///< the destination of arithmetic and loads, the source of stores
    std::vector<int> sources{};  ///< the registers of the other operands
    bool reads_memory = false;
    bool writes_memory = false;
};

/// Throws std::runtime_error at a byte that it cannot decode.
std::vector<Instruction> decode(std::span<const std::uint8_t> code);

}  // namespace roof::cpu::test
