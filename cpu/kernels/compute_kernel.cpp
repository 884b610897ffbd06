// Registers: accumulators from 0 up; the last holds the addend, the one before it the factor. System V calling convention; every vector register is
// the callee's to spoil.
#include "cpu/kernels/compute_kernel.hpp"

#include <tuple>

namespace roof::cpu {

namespace {

constexpr int registers_a_mix_is_written_for = 16;
constexpr std::size_t loop_alignment = 64;

}  // namespace

ComputeKernel::ComputeKernel(const Isa& isa_row, Precision precision, const Mix& mix)
    : Emitter(isa_row, precision),
      precision_(precision),
      mix_(mix.times(isa_row.registers / registers_a_mix_is_written_for)),
      steps_(body(mix_)),
      flops_per_iteration_(flops_per_lane(steps_) * lanes())
{
    generate();
}

void ComputeKernel::run(std::size_t iterations, const std::byte* start, const std::byte* constants,
                        std::byte* result) const
{
    using Function = void (*)(std::size_t, const std::byte*, const std::byte*, std::byte*);
    getCode<Function>()(iterations, start, constants, result);
}

void ComputeKernel::generate()
{
    const auto& [iterations, start, constants, result] = std::tie(rdi, rsi, rdx, rcx);
    const int bytes = isa().register_bytes;
    for (int i = 0; i < mix_.chains(); ++i) load(i, ptr[start + i * bytes]);
    const int last = isa().registers - 1;
    load(last, ptr[constants + bytes]);
    load(last - 1, ptr[constants]);

    Xbyak::Label loop_start;
    align(loop_alignment);
    L(loop_start);
    mark_loop_begin();
    for (const Step& step : steps_) emit(step);
    mark_loop_end();
    dec(iterations);
    jnz(loop_start, T_NEAR);

    for (int i = 0; i < mix_.chains(); ++i) store(ptr[result + i * bytes], i);
    finish();
}

void ComputeKernel::emit(const Step& step)
{
    const int addend = isa().registers - 1;
    const int factor = addend - 1;
    switch (step.operation) {
        case Arithmetic::fma:
            return multiply_add(step.accumulator, factor, vector(addend));
        case Arithmetic::mul:
            return multiply(step.accumulator, vector(factor));
        case Arithmetic::add:
            return accumulate(step.accumulator, vector(addend));
    }
}

}  // namespace roof::cpu
