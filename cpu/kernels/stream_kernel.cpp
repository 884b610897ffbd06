// Values are in registers 0 to 7; 8 to 11 are scratch registers.
#include "cpu/kernels/stream_kernel.hpp"

#include "ert/base/error.hpp"

#include <cstdint>
#include <tuple>

namespace roof::cpu {
namespace {

constexpr int loop_alignment = 64;
constexpr int line_bytes = 64;
constexpr int first_scratch = 8;
constexpr int constant_register = 15;
constexpr int first_pointer = 8;  ///< r8
constexpr int most_pointers = 4;

int scratch_of(const StreamStep& step)
{
    return first_scratch + step.value / 2;
}

}  // namespace

StreamKernel::StreamKernel(const Isa& isa_row, const ArrayOperation& operation, const Form& form)
    : Emitter(isa_row, Precision::fp64), operation_(operation), form_(form)
{
    if (pointers() > most_pointers) throw Error("a loop over more than four parts of arrays");
    generate();
}

std::size_t StreamKernel::bytes_per_iteration(const Isa& isa, const Form& form)
{
    return static_cast<std::size_t>(form.vectors * form.parts) * isa.operand_bytes(sizeof(double));
}

int StreamKernel::results() const
{
    return operation_.only_reads() ? values_of(form_) : 0;
}

int StreamKernel::pointer_of(int array, int part) const
{
    return first_pointer + array * form_.parts + part;
}

void StreamKernel::run(std::size_t passes, std::size_t bytes, const Arguments& arguments) const
{
    using Function = void (*)(std::size_t, std::size_t, const Arguments*);
    getCode<Function>()(passes, bytes, &arguments);
}

void StreamKernel::generate()
{
    const auto& [passes, bytes, arguments, left] = std::tie(rdi, rsi, rdx, rax);
    load_pointers();
    if (form_.parts > 1) shr(bytes, form_.parts == 2 ? 1 : 2);
    for (int array = 0; array < operation_.arrays(); ++array)
        for (int part = 1; part < form_.parts; ++part)
            lea(Xbyak::Reg64(pointer_of(array, part)), ptr[Xbyak::Reg64(pointer_of(array, part - 1)) + bytes]);
    const bool counts = form_.addressing == Addressing::counter;
    for (int i = 0; counts && i < pointers(); ++i) add(Xbyak::Reg64(first_pointer + i), bytes);

    Xbyak::Label pass;
    Xbyak::Label loop_start;
    L(pass);
    mov(left, bytes);
    if (counts) neg(left);
    align(loop_alignment);
    L(loop_start);
    mark_loop_begin();
    for (const StreamStep& step : iteration(operation_, form_)) emit(step);
    emit_advance();
    jnz(loop_start, T_NEAR);
    mark_loop_end();
    for (int i = 0; !counts && i < pointers(); ++i) sub(Xbyak::Reg64(first_pointer + i), bytes);
    dec(passes);
    jnz(pass, T_NEAR);

    if (operation_.nontemporal) sfence();
    if (results() > 0) mov(rcx, ptr[arguments + offsetof(Arguments, result)]);
    for (int i = 0; i < results(); ++i) store(ptr[place_of(i, rcx)], i);
    finish();
}

void StreamKernel::load_pointers()
{
    for (int i = 0; i < results(); ++i) clear(i);
    if (!operation_.only_loads()) {
        mov(rcx, ptr[rdx + offsetof(Arguments, constant)]);
        load(constant_register, ptr[rcx]);
    }
    if (operation_.stores > 0)
        mov(Xbyak::Reg64(pointer_of(operation_.sources, 0)), ptr[rdx + offsetof(Arguments, destination)]);
    for (int i = 0; i < operation_.sources; ++i) {
        const auto offset = offsetof(Arguments, sources) + static_cast<std::size_t>(i) * sizeof(const std::byte*);
        mov(Xbyak::Reg64(pointer_of(i, 0)), ptr[rdx + offset]);
    }
}

void StreamKernel::emit_advance()
{
    const auto step = static_cast<std::uint32_t>(form_.vectors * operand_bytes());
    if (form_.addressing == Addressing::counter) return add(rax, step);
    for (int i = 0; i < pointers(); ++i) add(Xbyak::Reg64(first_pointer + i), step);
    sub(rax, step);
}

Xbyak::Address StreamKernel::at(int array, int part, int offset) const
{
    const Xbyak::Reg64 pointer(pointer_of(array, part));
    return form_.addressing == Addressing::counter ? ptr[pointer + rax + offset] : ptr[pointer + offset];
}

void StreamKernel::emit_prefetch(const StreamStep& step)
{
    const int offset = step.vector * operand_bytes();
    if (form_.ahead == 0 || step.array < 0 || step.kind == StreamStep::Kind::store || offset % line_bytes != 0) return;
    prefetcht0(at(step.array, step.part, offset + form_.ahead));
}

void StreamKernel::emit(const StreamStep& step)
{
    using Kind = StreamStep::Kind;
    const int target = step.to_scratch ? scratch_of(step) : step.value;
    const Xbyak::Address memory = at(std::max(step.array, 0), step.part, step.vector * operand_bytes());
    emit_prefetch(step);
    switch (step.kind) {
        case Kind::load:
            return load(target, memory);
        case Kind::join:
            return emit_join(step.value, memory);
        case Kind::product:
            return product(target, constant_register, memory);
        case Kind::multiply:
            return multiply(target, memory);
        case Kind::constant_sum:
            return operation_.words ? sum_words(target, constant_register, memory)
                                    : sum(target, constant_register, memory);
        case Kind::add:
        case Kind::subtract:
            return emit_addition(step, memory);
        case Kind::multiply_add:
            return multiply_add(target, constant_register, memory);
        case Kind::add_product:
            return add_product(
                target, step.operand == StreamStep::Operand::constant ? constant_register : scratch_of(step), memory);
        case Kind::store:
            const int stored = operation_.loads() == 0 ? constant_register : step.value;
            return operation_.nontemporal ? store_nontemporal(memory, stored) : store(memory, stored);
    }
}

void StreamKernel::emit_addition(const StreamStep& step, const Xbyak::Address& memory)
{
    const bool is_of_memory = step.operand == StreamStep::Operand::memory;
    const int other = step.operand == StreamStep::Operand::constant ? constant_register : scratch_of(step);
    if (operation_.words) return is_of_memory ? add_words(step.value, memory, other) : add_words(step.value, other);
    const Xbyak::Xmm in_register = vector(other);
    const Xbyak::Operand& operand = is_of_memory ? static_cast<const Xbyak::Operand&>(memory) : in_register;
    step.kind == StreamStep::Kind::add ? accumulate(step.value, operand) : subtract(step.value, operand);
}

void StreamKernel::emit_join(int value, const Xbyak::Address& from)
{
    const int scratch = first_scratch + value / 2;
    if (form_.join == Join::sum) return add_words(value, from, scratch);
    form_.join == Join::bits ? join_bits(value, from, scratch) : maximum(value, from);
}

}  // namespace roof::cpu
