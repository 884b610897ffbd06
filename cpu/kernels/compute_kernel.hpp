// A loop of nothing but arithmetic on registers, for one instruction set, precision and mix.
#pragma once

#include "cpu/kernels/emitter.hpp"
#include "cpu/kernels/mix.hpp"

#include <cstddef>

namespace roof::cpu {

class ComputeKernel : public Emitter {
  public:
    /// Throws Unsupported for a precision it cannot be generated for. That the processor has the instructions is the
    /// caller's care: generating needs no such processor, running does.
    ComputeKernel(const Isa& isa, Precision precision, const Mix& mix);

    /// Of one iteration of the loop, all lanes.
    double flops_per_iteration() const { return flops_per_iteration_; }
    const std::vector<Step>& steps() const { return steps_; }
    int chains() const { return mix_.chains(); }
    int lanes() const { return operand_bytes() / traits(precision_).storage_bytes; }
    /// Elements of a register as it lies in `start` and `result`; only the first `lanes()` of them are worked on.
    int register_elements() const { return isa().register_bytes / traits(precision_).storage_bytes; }

    /// `start`, `result`: chains() registers. `constants`: the factor and the addend, a register each. All aligned to
    /// 64 bytes. `iterations` is at least 1.
    void run(std::size_t iterations, const std::byte* start, const std::byte* constants, std::byte* result) const;

  private:
    void generate();
    void emit(const Step& step);

    Precision precision_;
    Mix mix_;
    std::vector<Step> steps_;
    double flops_per_iteration_;
};

}  // namespace roof::cpu
