// A loop of nothing but arithmetic on registers, for one instruction set, precision and mix.
#pragma once

#include "cpu/kernels/emitter.hpp"
#include "cpu/kernels/formats.hpp"
#include "cpu/kernels/mix.hpp"

#include <cstddef>

namespace roof::cpu {

class ComputeKernel : public Emitter {
  public:
    /// Throws Unsupported for a combination that no processor has (operations.hpp), and Error for more chains than there
    /// are registers. That this processor has the instructions is the caller's care: generating needs no such processor,
    /// running does.
    ComputeKernel(const Isa& isa, Precision precision, const Mix& mix);

    Precision precision() const { return precision_; }
    const Mix& mix() const { return mix_; }
    const std::vector<Step>& steps() const { return steps_; }
    /// Of one iteration of the loop, all lanes.
    double flops_per_iteration() const { return flops_per_iteration_; }

    /// Of the accumulators: the precision's own, or that in which products are summed (fp32, int32).
    Format accumulator_format() const;
    /// Lanes of an accumulator that an instruction works on: the first of those in its register.
    int lanes() const;

    /// `start`, `result`: a register for each chain, of accumulator_format(). `constants`: three registers of the
    /// precision's elements. All aligned to 64 bytes. `iterations` is at least 1.
    void run(std::size_t iterations, const std::byte* start, const std::byte* constants, std::byte* result) const;

  private:
    void generate();
    void emit_loop();
    void emit(const Step& step);
    void read(int register_index, const Xbyak::Reg64& from, int position);
    void write(const Xbyak::Reg64& to, int position);
    int constant_register(int constant) const { return isa().registers - 1 - constant; }
    bool has_tiles() const { return isa().encoding == Encoding::tile; }
    bool sums_products() const { return mix_.uses(Arithmetic::dot) || mix_.uses(Arithmetic::tile); }

    Precision precision_;
    Mix mix_;
    std::vector<Step> steps_;
    double flops_per_iteration_;
};

}  // namespace roof::cpu
