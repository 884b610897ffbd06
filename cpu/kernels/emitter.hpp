// Emits the instructions of the kernels, for any row of the ISA table. Kernels are generated at run time, so no
// compiler changes the measured instructions.
#pragma once

#include "cpu/isa.hpp"
#include "ert/base/precision.hpp"

#include <cstdint>
#include <span>

#include <xbyak/xbyak.h>

namespace roof::cpu {

class Emitter : public Xbyak::CodeGenerator {
  public:
    /// `precision`: fp64 and fp32 for arithmetic and memory, fp16 for EVEX arithmetic, bf16 and int8 for products.
    /// Throws Unsupported for others.
    Emitter(const Isa& isa, Precision precision);

    const Isa& isa() const { return isa_; }
    int operand_bytes() const { return isa_.operand_bytes(traits(precision_).storage_bytes); }
    /// The machine code of the loop between the two marks, for counting its instructions.
    std::span<const std::uint8_t> loop() const;

  protected:
    Xbyak::Xmm vector(int index) const;
    /// The place of a whole register among others, which lie one after another from `first` on.
    Xbyak::RegExp place_of(int index, const Xbyak::Reg64& first) const { return first + index * isa_.register_bytes; }

    void load(int destination, const Xbyak::Address& source);
    void store(const Xbyak::Address& destination, int source);
    /// Bypasses the caches. Vectors only.
    void store_nontemporal(const Xbyak::Address& destination, int source);
    /// accumulator = 0 (all bits)
    void clear(int accumulator);
    /// accumulator |= the bits at `source`. The scalar form uses `scratch`.
    void join_bits(int accumulator, const Xbyak::Address& source, int scratch);
    /// accumulator = the greater of accumulator and the fp64 numbers at `source`
    void maximum(int accumulator, const Xbyak::Address& source);
    /// accumulator += the 64-bit words at `source`, modulo 2^64. The scalar form uses `scratch`.
    void add_words(int accumulator, const Xbyak::Address& source, int scratch);
    void add_words(int accumulator, int addend);
    /// destination = addend + the 64-bit words at `source`, modulo 2^64
    void sum_words(int destination, int addend, const Xbyak::Address& source);
    /// accumulator += addend, in the kernel's precision
    void accumulate(int accumulator, const Xbyak::Operand& addend);
    /// accumulator -= fp64 numbers
    void subtract(int accumulator, const Xbyak::Operand& numbers);
    /// destination = first + the fp64 numbers at `second`
    void sum(int destination, int first, const Xbyak::Address& second);
    /// accumulator += first * the fp64 numbers at `second`, rounded once. VEX and EVEX only.
    void add_product(int accumulator, int first, const Xbyak::Address& second);
    /// accumulator *= factor
    void multiply(int accumulator, const Xbyak::Operand& factor);
    /// destination = first * the numbers at `second`
    void product(int destination, int first, const Xbyak::Address& second);
    /// accumulator = accumulator * factor + addend, rounded once
    void multiply_add(int accumulator, int factor, const Xbyak::Operand& addend);
    /// accumulator /= divisor
    void divide(int accumulator, const Xbyak::Operand& divisor);
    /// accumulator = its square root
    void square_root(int accumulator);
    /// accumulator += in each 32-bit lane, the sum of products of the elements of `first` and `second` in that lane.
    /// bf16: summed in fp32; int8: `first` unsigned, `second` signed, modulo 2^32. VEX and EVEX only.
    void add_products(int accumulator, int first, int second);
    /// The same for tiles: accumulator += first times second, both signed.
    void add_tile_product(int accumulator, int first, int second);
    /// mask = the upper half of each 32-bit lane
    void upper_halves(int mask);
    /// low and high = the bf16 elements in the lower and in the upper half of each 32-bit lane of `from`, as fp32. VEX
    /// and EVEX only.
    void widen(int low, int high, int from, int mask);
    /// accumulator += first * second, in fp32. VEX and EVEX only.
    void add_fp32_product(int accumulator, int first, int second);

    void mark_loop_begin() { loop_begin_ = getSize(); }
    void mark_loop_end() { loop_end_ = getSize(); }
    /// Emits the return with clean upper register halves, and makes the code executable and read-only.
    void finish();

  private:
    bool is_double() const { return precision_ == Precision::fp64; }
    bool is_half() const { return precision_ == Precision::fp16; }
    bool is_scalar() const { return isa_.encoding == Encoding::scalar; }
    bool is_legacy() const { return isa_.encoding == Encoding::scalar || isa_.encoding == Encoding::sse; }

    const Isa isa_;
    const Precision precision_;
    std::size_t loop_begin_ = 0;
    std::size_t loop_end_ = 0;
};

}  // namespace roof::cpu
