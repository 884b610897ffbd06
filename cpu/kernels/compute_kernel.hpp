// A generated loop of arithmetic on registers, for one instruction set, precision and mix.
#pragma once

#include "cpu/kernels/emitter.hpp"
#include "cpu/kernels/mix.hpp"
#include "ert/base/formats.hpp"

#include <cstddef>

namespace roof::cpu {

class ComputeKernel : public Emitter {
  public:
    /// Throws Unsupported for a combination that no processor has (operations.hpp), and Error for more chains than
    /// registers. Any processor can generate the code. The caller checks that the processor can run it.
    ComputeKernel(const Isa& isa, Precision precision, const Mix& mix);

    Precision precision() const { return precision_; }
    const Mix& mix() const { return mix_; }
    const std::vector<Step>& steps() const { return steps_; }
    /// FLOPs of one iteration of the loop, all lanes.
    double flops_per_iteration() const { return flops_per_iteration_; }

    /// The accumulators' format: the precision's, or the format that products are summed in (fp32, int32).
    Format accumulator_format() const;
    /// Number of lanes of an accumulator that an instruction works on, from the first lane of its register.
    int lanes() const;

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
    int constant_register(int constant) const { return isa().registers - 1 - constant; }
    bool has_tiles() const { return isa().encoding == Encoding::tile; }
    int scratch_register(int index) const { return constant_register(mix_.constants()) - index; }

    Precision precision_;
    Mix mix_;
    std::vector<Step> steps_;
    double flops_per_iteration_;
    int widened_ = -1;  ///< the constant in scratch registers 2 and 3
};

}  // namespace roof::cpu
