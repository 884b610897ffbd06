// tcgen05: products in tensor memory, begun by one thread, done later and in order.
#include "tests/emulated_gpu/device/core_matrices.hpp"
#include "tests/emulated_gpu/device/execution.hpp"

#include <cmath>
#include <cstring>
#include <functional>

namespace roof::emulated {

namespace {

/// The descriptor of the instruction, by its tables in the PTX ISA.
struct Instruction {
    u32 m, n;
    Format a, b;
    bool is_negated;
    // Of kinds with scales: the first of an operand's bytes in a word, and whether a scale is an exponent alone (ue8m0)
    // or ue4m3.
    u32 place_of_a = 0, place_of_b = 0;
    bool is_exponent = false;
};

/// Scales along a row of an instruction; 0: the kind has none.
int scales_of(Kind kind)
{
    return kind == Kind::mxf8f6f4 ? 1 : kind == Kind::mxf4 ? 2 : kind == Kind::mxf4nvf4 ? 4 : 0;
}

Format format_of(Kind kind, u32 code)
{
    if (kind == Kind::tf32 && code == 2) return Format::tf32;
    if (kind == Kind::f16 && code <= 1) return code == 0 ? Format::fp16 : Format::bf16;
    if (kind == Kind::i8 && code == 1) return Format::int8;
    if ((kind == Kind::mxf4 || kind == Kind::mxf4nvf4) && code == 1) return Format::e2m1;
    if ((kind == Kind::f8f6f4 || kind == Kind::mxf8f6f4) && code <= 1) return code == 0 ? Format::e4m3 : Format::e5m2;
    fail("a format that tcgen05's kind does not have");
}

Instruction instruction_of(Kind kind, u32 bits)
{
    const auto field = [bits](int first, int count) { return bits >> first & ((1U << count) - 1); };
    Instruction found{field(24, 5) * 16, field(17, 6) * 8, format_of(kind, field(7, 3)), format_of(kind, field(10, 3)),
                      field(13, 1) != 0};
    if (const auto scales = static_cast<u32>(scales_of(kind)); scales != 0) {
        found.place_of_a = field(29, 2);
        found.place_of_b = field(4, 2);
        found.is_exponent = field(23, 1) != 0;
        if (found.place_of_a % scales != 0 || found.place_of_b % scales != 0) fail("scales that begin between two");
        if (found.is_exponent == (kind == Kind::mxf4nvf4)) fail("a format of scales that is not emulated");
        if (found.is_negated && kind != Kind::mxf8f6f4) fail("tcgen05 of fp4 with a negated operand");
        if (found.m != TensorMemory::lanes || field(14, 3) != 0 || field(0, 4) != 0 || field(31, 1) != 0)
            fail("a tcgen05 that is not emulated");
        return found;
    }
    if (field(4, 2) != (kind == Kind::i8 ? 2U : 1U)) fail("a type of sums that tcgen05's kind does not have");
    if (found.m != TensorMemory::lanes || field(14, 3) != 0 || field(0, 4) != 0) fail("a tcgen05 that is not emulated");
    if (kind == Kind::i8 && found.is_negated) fail("tcgen05 of whole numbers with a negated operand");
    return found;
}

/// Multiplies [row][k] by its scales: those of 32 rows are in the lanes of one column, those along k in bytes from
/// `place` on.
void apply_scales(std::vector<f64>& values, int rows, int scales, u32 column, u32 place, bool is_exponent,
                  TensorMemory& memory)
{
    const int k = static_cast<int>(values.size()) / rows;
    for (int row = 0; row < rows; ++row) {
        const u32 first = column + static_cast<u32>(row) / 32;
        const u32 word = memory.at(static_cast<u32>(row) % 32, first);
        for (u32 quarter = 1; quarter < 4; ++quarter) {
            if (memory.at(quarter * 32 + static_cast<u32>(row) % 32, first) != word)
                fail("scales that are not the same in all quarters of the lanes");
        }
        for (int i = 0; i < k; ++i) {
            const u32 byte = word >> 8 * (place + static_cast<u32>(i * scales / k)) & 0xFF;
            values[static_cast<std::size_t>(row * k + i)] *= scale_of(byte, is_exponent);
        }
    }
}

constexpr u32 not_loaded = 0x7FC0BEEF;  // not a number: what a register holds until its load was waited for
constexpr u64 generation_mask = u64{7} << 46;
constexpr u64 this_generation = u64{1} << 46;

}  // namespace

void Thread::tcgen05_fence(bool is_after)
{
    (is_after ? may_use_tensor_memory_ : has_used_tensor_memory_) = is_after;
}

/// A barrier orders tensor memory only between a fence before it and one after it.
void Thread::use_tensor_memory()
{
    if (!may_use_tensor_memory_) fail("tcgen05 after a barrier without tcgen05.fence::after_thread_sync");
    has_used_tensor_memory_ = true;
    block_.tensor_memory().used_by(warp(), block_.moment_of(*this).barriers);
}

void Thread::tcgen05_alloc(u32 at, u32 columns)
{
    use_tensor_memory();
    meet_warp([&] {
        const u32 place = block_.tensor_memory().allocate(columns);
        block_.shared().written_by(block_.moment_of(*this), at, sizeof(place));
        std::memcpy(block_.shared().at(at, sizeof(place)), &place, sizeof(place));
    });
}

void Thread::tcgen05_dealloc(u32 place, u32 columns)
{
    use_tensor_memory();
    const u32 barriers = block_.moment_of(*this).barriers;
    meet_warp([&] { block_.tensor_memory().free(place, columns, warp(), barriers); });
}

void Thread::tcgen05_relinquish()
{
    meet_warp([] {});
}

namespace {

/// By the first block of a pair: rows of A and of B of both, sums in the tensor memory of both. Returns the work to be
/// done.
std::function<void()> pair_work(Thread& thread, Kind kind, u32 sums, u64 a, u64 b, u32 instruction, bool keeps)
{
    Block& own = thread.block();
    const u32 rank = thread.cluster_rank();
    if (rank % 2 != 0 || rank + 1 >= thread.cluster_size())
        fail("tcgen05 of a pair by a block that is not the first of two");
    if (own.moment_of(thread).cluster_barriers == 0) fail("tcgen05 of a pair before the two have met");
    if ((a & generation_mask) != this_generation || (b & generation_mask) != this_generation)
        fail("a descriptor of another generation");
    constexpr u32 m_bits = 31U << 24;
    if ((instruction & m_bits) != 16U << 24) fail("a tcgen05 of a pair that is not emulated");
    const Instruction what = instruction_of(kind, (instruction & ~m_bits) | 8U << 24);
    const int k = 256 / bits_of(what.a);
    const int m = static_cast<int>(TensorMemory::lanes);
    const int n = static_cast<int>(what.n);
    const std::vector<Block*> pair{own.cluster().blocks[rank], own.cluster().blocks[rank + 1]};
    const ReadyAt ready{own.moment_of(thread), own.proxy_fences()};
    read_operand(a & ~generation_mask, what.a, m, k, own.shared(), &ready);
    read_operand(b & ~generation_mask, what.b, n / 2, k, own.shared(), &ready);
    own.execution().take_time_of_products(2.0 * m * n * k, what.a);  // both do half
    const auto work = [=] {
        std::vector<f64> y;
        for (Block* const block : pair) {
            const auto half = read_operand(b & ~generation_mask, what.b, n / 2, k, block->shared(), nullptr);
            y.insert(y.end(), half.begin(), half.end());
        }
        for (Block* const block : pair) {
            const auto x = read_operand(a & ~generation_mask, what.a, m, k, block->shared(), nullptr);
            const std::vector<f64> product = product_of(x, y, m, n, k);
            for (int row = 0; row < m; ++row) {
                for (int column = 0; column < n; ++column) {
                    const f64 sum = product[static_cast<std::size_t>(row * n + column)];
                    u32& cell =
                        block->tensor_memory().at(static_cast<u32>(row), (sums & 0xFFFF) + static_cast<u32>(column));
                    cell = std::bit_cast<u32>(
                        static_cast<f32>((keeps ? f32_of(cell) : 0) + (what.is_negated ? -sum : sum)));
                }
            }
        }
    };
    return work;
}

}  // namespace

void Thread::tcgen05_mma(Kind kind, u32 sums, u64 a, u64 b, u32 instruction, bool keeps, Scales scales)
{
    use_tensor_memory();
    if (scales.of_a == ~0U) {
        const auto work = pair_work(*this, kind, sums, a, b, instruction, keeps);
        return block_.begin(std::make_shared<Copy>(Copy{{}, work, false, false, true}));
    }
    if ((a & generation_mask) != this_generation || (b & generation_mask) != this_generation)
        fail("a descriptor of another generation");
    const Instruction what = instruction_of(kind, instruction);
    const int k = 256 / bits_of(what.a);
    const int m = static_cast<int>(what.m);
    const int n = static_cast<int>(what.n);
    const u64 without_generation = ~generation_mask;
    const ReadyAt ready{block_.moment_of(*this), block_.proxy_fences()};
    read_operand(a & without_generation, what.a, m, k, block_.shared(), &ready);
    read_operand(b & without_generation, what.b, n, k, block_.shared(), &ready);
    block_.execution().take_time_of_products(2.0 * m * n * k, what.a);
    Block* const block = &block_;
    const auto work = [=] {
        auto x = read_operand(a & without_generation, what.a, m, k, block->shared(), nullptr);
        auto y = read_operand(b & without_generation, what.b, n, k, block->shared(), nullptr);
        if (const int along = scales_of(kind); along != 0) {
            apply_scales(x, m, along, scales.of_a, what.place_of_a, what.is_exponent, block->tensor_memory());
            apply_scales(y, n, along, scales.of_b, what.place_of_b, what.is_exponent, block->tensor_memory());
        }
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

/// Above its address a barrier has the blocks of the cluster whose barriers are meant, a bit each; none: the own one.
void Thread::tcgen05_commit(u32 barrier_and_blocks)
{
    const u32 barrier = barrier_and_blocks & 0xFFFFFF;
    const u32 blocks = barrier_and_blocks >> 24;
    block_.mbarrier(barrier);
    std::vector<Block*> told{&block_};
    if (blocks != 0) told.clear();
    for (u32 rank = 0; blocks >> rank != 0; ++rank)
        if ((blocks >> rank & 1) != 0) told.push_back(block_.cluster().blocks.at(rank));
    const auto arrive = [=] {
        for (Block* const block : told) block->arrive(barrier, 0, true);
    };
    block_.begin(std::make_shared<Copy>(Copy{{}, arrive, false, false, true}));
}

void Thread::tcgen05_store(u32 at, u32 value)
{
    use_tensor_memory();
    if (at >> 16 != number_ / 32 % 4 * 32) fail("a warp writes lanes of tensor memory that are not its own");
    tensor_stores_.emplace_back(at & 0xFFFF, value);
    meet_warp([] {});
}

void Thread::tcgen05_wait_store()
{
    for (const auto& [column, value] : tensor_stores_) block_.tensor_memory().at(number_ % 128, column) = value;
    tensor_stores_.clear();
    meet_warp([] {});
}

void Thread::tcgen05_read(u32 at, u32* const* to, std::size_t count)
{
    use_tensor_memory();
    const u32 first_lane = at >> 16;
    if (first_lane != number_ / 32 % 4 * 32) fail("a warp reads lanes of tensor memory that are not its own");
    for (std::size_t i = 0; i < count; ++i) {
        tensor_loads_.emplace_back(
            to[i], block_.tensor_memory().at(first_lane + number_ % 32, (at & 0xFFFF) + static_cast<u32>(i)));
        *to[i] = not_loaded;
    }
    meet_warp([] {});
}

void Thread::tcgen05_wait_load()
{
    for (const auto& [to, value] : tensor_loads_) *to = value;
    tensor_loads_.clear();
    meet_warp([] {});
}

}  // namespace roof::emulated
