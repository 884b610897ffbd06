// Values are in registers 0 to 7; 8 to 11 are scratch registers.
#include "cpu/kernels/stream_kernel.hpp"

#include "ert/base/error.hpp"

#include <cstdint>
#include <tuple>

namespace roof::cpu {
namespace {

constexpr int loop_alignment = 64;
constexpr int line_bytes = 64;
constexpr int scratch_register = 8;
constexpr int constant_register = 15;
constexpr int first_pointer = 8;  ///< r8
constexpr int most_pointers = 4;

}  // namespace

StreamKernel::StreamKernel(const Isa& isa_row, const Stream& stream, const Form& form)
    : Emitter(isa_row, Precision::fp64), stream_(stream), form_(form)
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
    return stream_.only_reads() ? values_of(form_) : 0;
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
    for (int array = 0; array < stream_.arrays(); ++array)
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
    for (const StreamStep& step : iteration(stream_, form_)) emit(step);
    emit_advance();
    jnz(loop_start, T_NEAR);
    mark_loop_end();
    for (int i = 0; !counts && i < pointers(); ++i) sub(Xbyak::Reg64(first_pointer + i), bytes);
    dec(passes);
    jnz(pass, T_NEAR);

    if (stream_.nontemporal) sfence();
    if (results() > 0) mov(rcx, ptr[arguments + offsetof(Arguments, result)]);
    for (int i = 0; i < results(); ++i) store(ptr[place_of(i, rcx)], i);
    finish();
}

void StreamKernel::load_pointers()
{
    for (int i = 0; i < results(); ++i) clear(i);
    if (stream_.stores > 0) {
        mov(rcx, ptr[rdx + offsetof(Arguments, constant)]);
        load(constant_register, ptr[rcx]);
        mov(Xbyak::Reg64(pointer_of(stream_.sources, 0)), ptr[rdx + offsetof(Arguments, destination)]);
    }
    for (int i = 0; i < stream_.sources; ++i) {
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
    if (form_.ahead == 0 || step.kind == StreamStep::Kind::store || offset % line_bytes != 0) return;
    prefetcht0(at(step.array, step.part, offset + form_.ahead));
}

/// With `fused`, the sum includes the product, so only one factor is loaded for it.
void StreamKernel::emit(const StreamStep& step)
{
    const int value = step.value;
    const Xbyak::Address memory = at(step.array, step.part, step.vector * operand_bytes());
    emit_prefetch(step);
    switch (step.kind) {
        case StreamStep::Kind::load:
            return load(value, memory);
        case StreamStep::Kind::join:
            return emit_join(value, memory);
        case StreamStep::Kind::add:
            return add_words(value, memory, scratch_register + value / 2);
        case StreamStep::Kind::add_constant:
            return sum_words(value, constant_register, memory);
        case StreamStep::Kind::product:
            return form_.fused ? load(value, memory) : product(value, constant_register, memory);
        case StreamStep::Kind::sum:
            return form_.fused ? multiply_add(value, constant_register, memory) : accumulate(value, memory);
        case StreamStep::Kind::store:
            const bool is_constant = stream_.loads() == 0;
            const int stored = is_constant ? constant_register : value;
            return stream_.nontemporal ? store_nontemporal(memory, stored) : store(memory, stored);
    }
}

void StreamKernel::emit_join(int value, const Xbyak::Address& from)
{
    const int scratch = scratch_register + value / 2;
    if (form_.join == Join::sum) return add_words(value, from, scratch);
    form_.join == Join::bits ? join_bits(value, from, scratch) : maximum(value, from);
}

}  // namespace roof::cpu
