// tcgen05: products in tensor memory, begun by one thread, done later and in order.
#include "tests/emulated_gpu/device/core_matrices.hpp"
#include "tests/emulated_gpu/device/execution.hpp"

#include <cstring>

namespace roof::emulated {

namespace {

[[noreturn]] void fail(const std::string& what)
{
    throw Fault(Fault::Kind::launch, what);
}

/// The descriptor of the instruction, by its table in the PTX ISA.
struct Instruction {
    u32 m, n;
    Format a, b;
    bool is_negated;
};

Format format_of(Kind kind, u32 code)
{
    if (kind == Kind::tf32 && code == 2) return Format::tf32;
    if (kind == Kind::f16 && code <= 1) return code == 0 ? Format::fp16 : Format::bf16;
    if (kind == Kind::i8 && code == 1) return Format::int8;
    if (kind == Kind::f8f6f4 && code <= 1) return code == 0 ? Format::e4m3 : Format::e5m2;
    fail("a format that tcgen05's kind does not have");
}

Instruction instruction_of(Kind kind, u32 bits)
{
    const auto field = [bits](int first, int count) { return bits >> first & ((1U << count) - 1); };
    const Instruction found{field(24, 5) * 16, field(17, 6) * 8, format_of(kind, field(7, 3)),
                            format_of(kind, field(10, 3)), field(13, 1) != 0};
    if (field(4, 2) != (kind == Kind::i8 ? 2U : 1U)) fail("a type of sums that tcgen05's kind does not have");
    if (found.m != TensorMemory::lanes || field(14, 3) != 0 || field(0, 4) != 0) fail("a tcgen05 that is not emulated");
    if (kind == Kind::i8 && found.is_negated) fail("tcgen05 of whole numbers with a negated operand");
    return found;
}

constexpr u64 generation_mask = u64{7} << 46;
constexpr u64 this_generation = u64{1} << 46;

}  // namespace

void Thread::tcgen05_alloc(u32 at, u32 columns)
{
    meet_warp([&] {
        const u32 place = block_.tensor_memory().allocate(columns);
        block_.shared().written_by(block_.moment_of(*this), at, sizeof(place));
        std::memcpy(block_.shared().at(at, sizeof(place)), &place, sizeof(place));
    });
}

void Thread::tcgen05_dealloc(u32 place, u32 columns)
{
    meet_warp([&] { block_.tensor_memory().free(place, columns); });
}

void Thread::tcgen05_relinquish()
{
    meet_warp([] {});
}

void Thread::tcgen05_mma(Kind kind, u32 sums, u64 a, u64 b, u32 instruction, bool keeps)
{
    if ((a & generation_mask) != this_generation || (b & generation_mask) != this_generation)
        fail("a descriptor of another generation");
    const Instruction what = instruction_of(kind, instruction);
    const int k = 32 / bytes_of(what.a);
    const int m = static_cast<int>(what.m);
    const int n = static_cast<int>(what.n);
    const u64 without_generation = ~generation_mask;
    read_operand(a & without_generation, what.a, m, k, block_.shared(), &block_.proxy_fences());
    read_operand(b & without_generation, what.b, n, k, block_.shared(), &block_.proxy_fences());
    block_.execution().take_time_of_products(2.0 * m * n * k, what.a);
    Block* const block = &block_;
    const auto work = [=] {
        const auto x = read_operand(a & without_generation, what.a, m, k, block->shared(), nullptr);
        const auto y = read_operand(b & without_generation, what.b, n, k, block->shared(), nullptr);
        const std::vector<f64> product = product_of(x, y, m, n, k);
        for (int row = 0; row < m; ++row) {
            for (int column = 0; column < n; ++column) {
                f64 sum = product[static_cast<std::size_t>(row * n + column)];
                u32& cell =
                    block->tensor_memory().at(static_cast<u32>(row), (sums & 0xFFFF) + static_cast<u32>(column));
                if (what.is_negated) sum = -sum;
                if (kind == Kind::i8)
                    cell = add(keeps ? cell : 0, static_cast<u32>(static_cast<s64>(sum)));
                else
                    cell = std::bit_cast<u32>(static_cast<f32>((keeps ? f32_of(cell) : 0) + sum));
            }
        }
    };
    block_.begin(std::make_shared<Copy>(Copy{{}, work, false, false, true}));
}

void Thread::tcgen05_commit(u32 barrier)
{
    block_.mbarrier(barrier);
    Block* const block = &block_;
    block_.begin(std::make_shared<Copy>(Copy{{}, [=] { block->arrive(barrier, 0, true); }, false, false, true}));
}

void Thread::tcgen05_read(u32 at, u32* to, std::size_t count)
{
    const u32 first_lane = at >> 16;
    if (first_lane != number_ / 32 % 4 * 32) fail("a warp reads lanes of tensor memory that are not its own");
    for (std::size_t i = 0; i < count; ++i)
        to[i] = block_.tensor_memory().at(first_lane + number_ % 32, (at & 0xFFFF) + static_cast<u32>(i));
    meet_warp([] {});
}

}  // namespace roof::emulated
