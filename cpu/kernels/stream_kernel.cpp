// The order of an iteration follows from its constraints: the steps of a vector come one after another, each `lag` vectors
// after the one before.
#include "cpu/kernels/stream_kernel.hpp"

#include "ert/base/error.hpp"

#include <cstdint>
#include <tuple>

namespace roof::cpu {

namespace {

constexpr int loop_alignment = 64;
constexpr int line_bytes = 64;
/// Number of registers for accumulators, or for values between source and destination.
constexpr int values = 8;
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
    return stream_.only_reads() ? std::min(values, form_.vectors * form_.parts) : 0;
}

int StreamKernel::register_of(int vector, int part) const
{
    return (vector * form_.parts + part) % values;
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

std::vector<StreamKernel::Stage> StreamKernel::stages() const
{
    const int destination = stream_.sources;
    if (stream_.only_reads()) return {{form_.join == Join::none ? Step::load : Step::join, 0}};
    if (stream_.flops > 0) return {{Step::product, 1}, {Step::sum, 0}, {Step::store, destination}};
    std::vector<Stage> all;
    if (stream_.sources > 0) all.push_back({Step::load, 0});
    if (stream_.sources > 1) all.push_back({Step::add, 1});
    if (stream_.in_place) all.push_back({stream_.sources > 0 ? Step::add : Step::add_constant, destination});
    all.push_back({Step::store, destination});
    return all;
}

void StreamKernel::generate()
{
    const auto& [passes, bytes, arguments, left] = std::tie(rdi, rsi, rdx, rax);
    load_pointers();
    if (form_.parts > 1) shr(bytes, form_.parts == 2 ? 1 : 2);
    for (int array = 0; array < stream_.arrays(); ++array) {
        for (int part = 1; part < form_.parts; ++part) {
            lea(Xbyak::Reg64(pointer_of(array, part)), ptr[Xbyak::Reg64(pointer_of(array, part - 1)) + bytes]);
        }
    }
    const bool counts = form_.addressing == Addressing::counter;
    for (int i = 0; counts && i < pointers(); ++i) add(Xbyak::Reg64(first_pointer + i), bytes);

    Xbyak::Label pass;
    Xbyak::Label iteration;
    L(pass);
    mov(left, bytes);
    if (counts) neg(left);
    align(loop_alignment);
    L(iteration);
    mark_loop_begin();
    emit_iteration();
    emit_advance();
    jnz(iteration, T_NEAR);
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

/// With a lag, a turn begins with the first step of its vector; later steps follow, of ever earlier vectors, the oldest
/// vector first.
void StreamKernel::emit_iteration()
{
    const std::vector<Stage> all = stages();
    const int last = static_cast<int>(all.size()) - 1;
    const auto emit_all_parts = [&](int stage, int vector) {
        if (vector < 0 || vector >= form_.vectors) return;
        for (int part = 0; part < form_.parts; ++part) emit(all[stage], vector, part);
    };
    for (int turn = 0; turn < form_.vectors + form_.lag * last; ++turn) {
        emit_all_parts(0, turn);
        for (int i = 1; i <= last; ++i) {
            const int stage = form_.lag == 0 ? i : last + 1 - i;
            emit_all_parts(stage, turn - form_.lag * stage);
        }
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

void StreamKernel::emit_prefetch(const Stage& stage, int vector, int part)
{
    const int offset = vector * operand_bytes();
    if (form_.ahead == 0 || stage.step == Step::store || offset % line_bytes != 0) return;
    prefetcht0(at(stage.array, part, offset + form_.ahead));
}

/// With `fused`, the sum includes the product, so only one factor is loaded for it.
void StreamKernel::emit(const Stage& stage, int vector, int part)
{
    const int value = register_of(vector, part);
    const Xbyak::Address memory = at(stage.array, part, vector * operand_bytes());
    emit_prefetch(stage, vector, part);
    switch (stage.step) {
        case Step::load:
            return load(value, memory);
        case Step::join:
            return emit_join(value, memory);
        case Step::add:
            return add_words(value, memory, scratch_register + value / 2);
        case Step::add_constant:
            return sum_words(value, constant_register, memory);
        case Step::product:
            return form_.fused ? load(value, memory) : product(value, constant_register, memory);
        case Step::sum:
            return form_.fused ? multiply_add(value, constant_register, memory) : accumulate(value, memory);
        case Step::store:
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
