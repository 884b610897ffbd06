// Writes A64 instructions, which are words of 32 bits, for NEON and SVE: those that the loops of cpu/kernels need. The
// words are those of the Arm Architecture Reference Manual (DDI 0487); in tests/aarch64 another program disassembles
// and an emulator runs them.
#pragma once

#include "cpu/isa.hpp"
#include "ert/base/precision.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roof::cpu::aarch64 {

/// Arithmetic on whole vectors. `add_products` sums products of bf16 and int8 (unsigned times signed) in lanes of 32
/// bits.
enum class Vector {
    multiply_add,
    add,
    multiply,
    divide,
    square_root,
    add_products,
    maximum,
    add_words,
    join_bits,
    differ
};

class Assembler {
  public:
    /// `isa`: neon_isa or an sve_isa(). `precision`: fp64, fp32, fp16, bf16 or int8.
    Assembler(const Isa& isa, Precision precision) : isa_(isa), precision_(precision) {}

    /// destination = destination + first * second for multiply_add and add_products; the square root of first; else
    /// first with second, where SVE needs `first` to be the destination for divide and maximum.
    void vector(Vector operation, int destination, int first, int second);
    /// The vector at the address in x`pointer` plus `index` vectors.
    void load(int vector, int pointer, int index) { move(false, vector, pointer, index); }
    void store(int vector, int pointer, int index) { move(true, vector, pointer, index); }
    /// `offset`: a multiple of 8 below 32768
    void prefetch(int pointer, int offset);

    // General registers x0 to x30.
    void load_pointer(int destination, int pointer, std::size_t offset);
    void copy(int destination, int source);
    void add(int destination, int first, int second);
    void subtract(int destination, int first, int second);
    void multiply(int destination, int first, int second);
    /// `constant`: below 65536
    void set(int reg, int constant);
    void halve(int reg, int times);
    /// `constant`: below 4096
    void add_constant(int reg, int constant);
    /// Subtracts and compares with 0.
    void subtract_constant(int reg, int constant);
    /// To the word with that index, unless the last subtract_constant gave 0.
    void branch_unless_zero(std::size_t target);
    void align(std::size_t words);

    /// Saves what a function must keep; on SVE, predicate 0 selects all lanes.
    void begin();
    void end();

    const std::vector<std::uint32_t>& words() const { return words_; }
    std::size_t size() const { return words_.size(); }

  private:
    void move(bool is_store, int vector, int pointer, int index);
    bool is_sve() const { return isa_.encoding == Encoding::sve; }
    void put(std::uint32_t word) { words_.push_back(word); }

    Isa isa_;
    Precision precision_;
    std::vector<std::uint32_t> words_;
};

}  // namespace roof::cpu::aarch64
