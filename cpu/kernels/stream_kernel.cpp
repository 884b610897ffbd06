// The loop walks up with plain pointers: an index register would split stores and multiply-adds in two on some cores.
#include "cpu/kernels/stream_kernel.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

namespace roof::cpu {

namespace {

constexpr std::size_t loop_alignment = 64;
/// Vectors of one array in an iteration: enough to drown the loop's own three to five instructions.
constexpr int unroll_of_one_array = 16;
constexpr int unroll_of_several = 8;
constexpr int unroll(const Stream& stream)
{
    return stream.arrays() == 1 ? unroll_of_one_array : unroll_of_several;
}

constexpr int load_accumulators = 8;
constexpr int constant_register = 15;
constexpr int scratch_register = 8;

}  // namespace

const Stream& parse_stream(std::string_view name)
{
    const auto found =
        std::find_if(stream_table.begin(), stream_table.end(), [&](const Stream& s) { return s.name == name; });
    if (found != stream_table.end()) return *found;
    std::vector<std::string> legal;
    for (const Stream& stream : stream_table) legal.emplace_back(stream.name);
    throw InputError(unknown_word("operation", name, legal));
}

StreamKernel::StreamKernel(const Isa& isa_row, const Stream& stream, bool fused)
    : Emitter(isa_row, Precision::fp64), stream_(stream), fused_(fused)
{
    generate();
}

std::size_t StreamKernel::bytes_per_iteration(const Isa& isa, const Stream& stream)
{
    return static_cast<std::size_t>(unroll(stream)) * isa.operand_bytes(sizeof(double));
}

int StreamKernel::accumulators() const
{
    return stream_.movement == Movement::load ? load_accumulators : 0;
}

void StreamKernel::run(std::size_t passes, std::size_t bytes, const Arguments& arguments) const
{
    using Function = void (*)(std::size_t, std::size_t, const Arguments*);
    getCode<Function>()(passes, bytes, &arguments);
}

void StreamKernel::generate()
{
    const auto& [passes, bytes, arguments] = std::tie(rdi, rsi, rdx);
    const auto& [destination, first, second, left] = std::tie(r8, r9, r10, rax);
    if (stream_.movement == Movement::store || stream_.movement == Movement::triad) {
        mov(rcx, ptr[arguments + offsetof(Arguments, constant)]);
        load(constant_register, ptr[rcx]);
    }
    for (int i = 0; i < accumulators(); ++i) clear(i);

    Xbyak::Label pass;
    Xbyak::Label iteration;
    align(loop_alignment);
    L(pass);
    if (stream_.stores > 0) mov(destination, ptr[arguments + offsetof(Arguments, destination)]);
    if (stream_.loads > 0) mov(first, ptr[arguments + offsetof(Arguments, first)]);
    if (stream_.loads > 1) mov(second, ptr[arguments + offsetof(Arguments, second)]);
    mov(left, bytes);
    align(loop_alignment);
    L(iteration);
    mark_loop_begin();
    emit_iteration();
    mark_loop_end();
    const auto step = static_cast<std::uint32_t>(bytes_per_iteration(isa(), stream_));
    if (stream_.stores > 0) add(destination, step);
    if (stream_.loads > 0) add(first, step);
    if (stream_.loads > 1) add(second, step);
    sub(left, step);
    jnz(iteration, T_NEAR);
    dec(passes);
    jnz(pass, T_NEAR);

    if (accumulators() > 0) mov(rcx, ptr[arguments + offsetof(Arguments, registers)]);
    for (int i = 0; i < accumulators(); ++i) store(ptr[rcx + i * isa().register_bytes], i);
    finish();
}

void StreamKernel::emit_iteration()
{
    for (int i = 0; i < unroll(stream_); ++i) {
        const int offset = i * operand_bytes();
        const auto destination = ptr[r8 + offset];
        const auto first = ptr[r9 + offset];
        const auto second = ptr[r10 + offset];
        switch (stream_.movement) {
            case Movement::load:
                add_words(i % load_accumulators, first, scratch_register + i % load_accumulators / 2);
                break;
            case Movement::store:
                store(destination, constant_register);
                break;
            case Movement::copy:
                load(i, first);
                store(destination, i);
                break;
            case Movement::triad:
                load(i, second);
                if (fused_) {
                    multiply_add(i, constant_register, first);
                } else {
                    multiply(i, vector(constant_register));
                    accumulate(i, first);
                }
                store(destination, i);
                break;
        }
    }
}

}  // namespace roof::cpu
