// A generated loop over arrays in memory, in one form (forms.hpp), for x86-64.
#pragma once

#include "cpu/kernels/emitter.hpp"
#include "cpu/kernels/forms.hpp"

#include <cstddef>

namespace roof::cpu {

class StreamKernel : public Emitter {
  public:
    /// The caller checks that the processor has the instructions. Throws Unsupported for a non-temporal store of
    /// scalars, and Error for more than four parts of arrays.
    StreamKernel(const Isa& isa, const ArrayOperation& operation, const Form& form);

    const ArrayOperation& operation() const { return operation_; }
    const Form& form() const { return form_; }

    /// Bytes of each array that one iteration covers, in all parts.
    static std::size_t bytes_per_iteration(const Isa& isa, const Form& form);

    /// Number of registers that `run` stores in `result`; 0 for an operation that stores.
    int results() const;
    static constexpr int most_result_bytes = 8 * 64;

    /// The register that holds the address of a part of an array, in the numbers of the instruction set. Arrays: the
    /// sources, then the destination.
    int pointer_of(int array, int part) const;
    static constexpr int counter_register = 0;

    struct Arguments {
        std::byte* destination = nullptr;           ///< of an operation that stores
        std::array<const std::byte*, 4> sources{};  ///< in the order of the text
        const std::byte* constant = nullptr;        ///< a register: the scalars
        std::byte* result = nullptr;                ///< of an operation that only reads: the registers, see Join
    };
    /// `bytes`: size of each array, a positive multiple of bytes_per_iteration. `passes`: at least 1. Pointers in use
    /// are aligned to 64 bytes. On return, non-temporal stores have left the processor's buffers.
    void run(std::size_t passes, std::size_t bytes, const Arguments& arguments) const;

  private:
    int pointers() const { return operation_.arrays() * form_.parts; }

    void generate();
    void load_pointers();
    void emit_advance();
    void emit(const StreamStep& step);
    void emit_join(int value, const Xbyak::Address& from);
    void emit_addition(const StreamStep& step, const Xbyak::Address& memory);
    void emit_prefetch(const StreamStep& step);
    Xbyak::Address at(int array, int part, int offset) const;

    ArrayOperation operation_;
    Form form_;
};

}  // namespace roof::cpu
