// A generated loop of arithmetic on registers (compute_loop.hpp), for x86-64.
#pragma once

#include "cpu/kernels/compute_loop.hpp"
#include "cpu/kernels/emitter.hpp"

#include <cstddef>

namespace roof::cpu {

class ComputeKernel : public ComputeLoop, public Emitter {
  public:
    /// Throws as ComputeLoop. Any processor can generate the code. The caller checks that the processor can run it.
    ComputeKernel(const Isa& isa, Precision precision, const Mix& mix);

    using ComputeLoop::isa;

    /// `start`, `result`: one register per chain, in accumulator_format(). `constants`: three registers of the
    /// precision's elements. All are aligned to 64 bytes. `iterations` is at least 1.
    void run(std::size_t iterations, const std::byte* start, const std::byte* constants, std::byte* result) const;

  private:
    void generate();
    void emit_loop();
    void emit(const Step& step);
    /// Widens a constant into two scratch registers, from `first_scratch` on.
    void widen_constant(int constant, int first_scratch);
    void read(int register_index, const Xbyak::Reg64& from, int position);
    void write(const Xbyak::Reg64& to, int position);
    bool has_tiles() const { return isa().encoding == Encoding::tile; }

    int widened_ = -1;  ///< the constant in scratch registers 2 and 3
};

}  // namespace roof::cpu
