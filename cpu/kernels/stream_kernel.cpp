// The loop increments plain pointers: an index register would split stores and multiply-adds in two on some cores.
#include "cpu/kernels/stream_kernel.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace roof::cpu {

namespace {

constexpr int loop_alignment = 64;
constexpr int line_bytes = 64;
/// Number of registers for accumulators of the load, or for values between source and destination.
constexpr int values = 8;
constexpr int scratch_register = 8;
constexpr int constant_register = 15;
/// The triad's order, found by a search over random orders on a Zen 5.
constexpr std::string_view woven = "p2 p1 a1 a2 p0 a0 s2 p3 s0 s1 a3 s3";

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

std::string Shape::text() const
{
    std::string words = std::to_string(vectors) + " per iteration";
    if (group > 1) words += ", groups of " + std::to_string(group);
    if (fused) words += ", fused";
    if (!order.empty()) words += ", woven";
    if (ahead > 0) words += ", prefetch " + std::to_string(ahead) + " bytes ahead";
    return words;
}

std::vector<Shape> shapes_of(const Stream& stream, bool beyond_l1, bool can_fuse)
{
    std::vector<Shape> shapes{{4}, {8}, {16}, {32}};
    // A store delays a later load whose address has the same low bits.
    if (stream.movement == Movement::copy) {
        shapes.push_back({8, 4});
        shapes.push_back({16, 4});
    }
    // The triad needs two loads and a store in every clock. A Zen 5 reaches 99.6% of that with products and sums in
    // this order, 82 to 96% vector by vector, and 67 to 100% with multiply-adds, varying from run to run
    // (docs/ceilings.md).
    if (stream.movement == Movement::triad) {
        shapes.push_back({2});
        shapes.push_back({.vectors = 4, .order = woven});
        if (can_fuse) shapes.insert(shapes.end(), {{.vectors = 4, .fused = true}, {.vectors = 16, .fused = true}});
    }
    if (stream.loads > 0 && beyond_l1) {
        shapes.push_back({8, 1, 1024});
        shapes.push_back({8, 1, 2048});
    }
    return shapes;
}

StreamKernel::StreamKernel(const Isa& isa_row, const Stream& stream, const Shape& shape)
    : Emitter(isa_row, Precision::fp64), stream_(stream), shape_(shape)
{
    generate();
}

std::size_t StreamKernel::bytes_per_iteration(const Isa& isa, const Shape& shape)
{
    return static_cast<std::size_t>(shape.vectors) * isa.operand_bytes(sizeof(double));
}

int StreamKernel::accumulators() const
{
    return stream_.movement == Movement::load ? std::min(values, shape_.vectors) : 0;
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
    if (stream_.stores > 0 && stream_.movement != Movement::copy) {
        mov(rcx, ptr[arguments + offsetof(Arguments, constant)]);
        load(constant_register, ptr[rcx]);
    }
    for (int i = 0; i < accumulators(); ++i) clear(i);

    const std::vector<Xbyak::Reg64> pointers = used_pointers();
    if (stream_.stores > 0) mov(destination, ptr[arguments + offsetof(Arguments, destination)]);
    if (stream_.sources() > 0) mov(first, ptr[arguments + offsetof(Arguments, first)]);
    if (stream_.sources() > 1) mov(second, ptr[arguments + offsetof(Arguments, second)]);

    Xbyak::Label pass;
    Xbyak::Label iteration;
    L(pass);
    mov(left, bytes);
    align(loop_alignment);
    L(iteration);
    mark_loop_begin();
    emit_iteration();
    mark_loop_end();
    const auto step = static_cast<std::uint32_t>(bytes_per_iteration(isa(), shape_));
    for (const Xbyak::Reg64& pointer : pointers) add(pointer, step);
    sub(left, step);
    jnz(iteration, T_NEAR);
    for (const Xbyak::Reg64& pointer : pointers) sub(pointer, bytes);
    dec(passes);
    jnz(pass, T_NEAR);

    if (stream_.nontemporal) sfence();
    if (accumulators() > 0) mov(rcx, ptr[arguments + offsetof(Arguments, result)]);
    for (int i = 0; i < accumulators(); ++i) store(ptr[rcx + i * isa().register_bytes], i);
    finish();
}

std::vector<Xbyak::Reg64> StreamKernel::used_pointers() const
{
    std::vector<Xbyak::Reg64> used;
    if (stream_.stores > 0) used.push_back(r8);
    if (stream_.sources() > 0) used.push_back(r9);
    if (stream_.sources() > 1) used.push_back(r10);
    return used;
}

void StreamKernel::emit_iteration()
{
    if (!shape_.order.empty()) return emit_in_order();
    for (int start = 0; start < shape_.vectors; start += shape_.group) {
        for (int i = start; i < start + shape_.group; ++i) emit_read(i);
        for (int i = start; i < start + shape_.group; ++i) emit_write(i);
    }
}

void StreamKernel::emit_in_order()
{
    constexpr std::size_t turn = 3;
    for (std::size_t at = 0; at < shape_.order.size(); at += turn) {
        const int index = shape_.order[at + 1] - '0';
        switch (shape_.order[at]) {
            case 'p':
                emit_product(index);
                break;
            case 'a':
                emit_sum(index);
                break;
            default:
                emit_write(index);
        }
    }
}

void StreamKernel::emit_prefetch(int offset)
{
    if (shape_.ahead == 0 || offset % line_bytes != 0) return;
    const auto& from = stream_.in_place() ? r8 : r9;
    prefetcht0(ptr[from + offset + shape_.ahead]);
    if (stream_.sources() > 1) prefetcht0(ptr[r10 + offset + shape_.ahead]);
}

/// With `fused`, the sum includes the product, so only one factor is loaded here.
void StreamKernel::emit_product(int index)
{
    const auto second = ptr[r10 + index * operand_bytes()];
    shape_.fused ? load(index % values, second) : product(index % values, constant_register, second);
}

void StreamKernel::emit_sum(int index)
{
    const auto first = ptr[r9 + index * operand_bytes()];
    shape_.fused ? multiply_add(index % values, constant_register, first) : accumulate(index % values, first);
}

void StreamKernel::emit_read(int index)
{
    const int offset = index * operand_bytes();
    const int value = index % values;
    const auto first = ptr[r9 + offset];
    if (stream_.loads > 0) emit_prefetch(offset);
    switch (stream_.movement) {
        case Movement::load:
            return add_words(index % accumulators(), first, scratch_register + index % values / 2);
        case Movement::store:
            return;
        case Movement::copy:
            return load(value, first);
        case Movement::update:
            return sum_words(value, constant_register, ptr[r8 + offset]);
        case Movement::triad:
            emit_product(index);
            return emit_sum(index);
    }
}

void StreamKernel::emit_write(int index)
{
    if (stream_.stores == 0) return;
    const auto destination = ptr[r8 + index * operand_bytes()];
    const int value = stream_.movement == Movement::store ? constant_register : index % values;
    stream_.nontemporal ? store_nontemporal(destination, value) : store(destination, value);
}

}  // namespace roof::cpu
