// Decodes the instructions of kernels with Zydis. It reads the emitted bytes, so that checks compare a kernel's counts
// with the real code and not with the intent of the generator.
#pragma once

#include "cpu/kernels/stream_kernel.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace roof::cpu {

// Checks a loop over arrays by its machine code, because a loop that computes nothing has no result to check.

/// Decodes one iteration. Throws Error unless it loads and stores each byte of its part of every array once, as the
/// stream says, with the stores that the stream says, then advances by exactly these bytes and jumps to its start.
void check_loop(const StreamKernel& kernel);

enum class InstructionKind {
    add,
    mul,
    fma,
    div,
    sqrt,
    dot,
    tile,
    add_words,
    join_bits,
    maximum,
    load,
    store,
    prefetch,
    advance,  ///< adds a constant to a general register
    branch,   ///< to an earlier instruction, unless the last result was zero
    other
};

/// The element type of arithmetic; `none` for other instructions. For dot and tile: the type of the factors.
enum class Element { none, fp64, fp32, fp16, bf16, int8 };

/// The general registers and the constant of an address; -1: no such register.
struct MemoryOperand {
    int base = -1;
    int index = -1;  ///< unscaled
    int displacement = 0;
};

struct Instruction {
    InstructionKind kind = InstructionKind::other;
    Element element = Element::none;
    int bytes = 0;               ///< size of the operand
    int register_index = 0;      ///< the destination of arithmetic, loads and advances, the source of stores
    std::vector<int> sources{};  ///< the registers of the other operands
    bool reads_memory = false;
    bool writes_memory = false;
    bool bypasses_caches = false;
    MemoryOperand address{};
    long long constant = 0;  ///< of an advance, or the bytes from the end of a branch to its target
};

/// Throws Error at a byte that it cannot decode.
std::vector<Instruction> decode(std::span<const std::uint8_t> code);

}  // namespace roof::cpu
