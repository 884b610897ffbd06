// Bandwidth kernels: the forms, and the check of their results.
#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/registers.hpp"
#include "cpu/kernels/stream_kernel.hpp"
#include "cpu/probes/checks.hpp"
#include "ert/base/error.hpp"
#include "ert/method/bench/buffer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <tuple>

using namespace roof;
using namespace roof::cpu;

namespace {

/// One stream on one thread, over arrays of a few iterations, within a slice.
struct Bed {
    Bed(const Isa& isa, const Stream& row, const Form& form)
        : kernel(isa, row, form),
          stream(row),
          memory(1 << 20, "a test"),
          arrays{stream, 5 * StreamKernel::bytes_per_iteration(isa, form), memory.data(), 8192},
          constant(1, 64, Precision::fp64)
    {
        constant.broadcast(0, row.in_place ? std::bit_cast<double>(update_constant) : stream_constant);
        write_content(memory.data(), 0, memory.size());
    }

    void run(std::size_t passes)
    {
        kernel.run(passes, arrays.bytes,
                   {arrays.destination(),
                    {arrays.array(0), arrays.array(1)},
                    constant.data(),
                    reinterpret_cast<std::byte*>(result.data())});
    }

    void check(std::size_t passes) const { check_stream(arrays, {0, arrays.bytes}, passes, kernel, result); }

    StreamKernel kernel;
    Stream stream;
    Buffer memory;
    StreamArrays arrays;
    RegisterFile constant;
    alignas(64) std::array<std::uint64_t, StreamKernel::most_result_bytes / 8> result{};
};

bool usable(const std::vector<std::string>& words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Calls use(isa, stream, shape) for every kernel that can be generated.
template <class Use>
void for_kernels(const Use& use)
{
    for (const Isa& isa : isa_table) {
        for (const Stream& stream : stream_table) {
            if (stream.nontemporal && isa.encoding == Encoding::scalar) continue;
            const bool can_fuse = isa.encoding == Encoding::vex || isa.encoding == Encoding::evex;
            for (const Form& form : forms_of(stream, true, can_fuse)) {
                CAPTURE(isa.name, stream.name, form.text(stream));
                use(isa, stream, form);
            }
        }
    }
}

}  // namespace

TEST_CASE("the loads and stores of every form of a bandwidth loop are those that its operation counts")
{
    for_kernels([](const Isa& isa, const Stream& stream, const Form& form) {
        const StreamKernel kernel(isa, stream, form);
        CHECK_NOTHROW(check_loop(kernel));
        std::size_t loaded = 0;
        std::size_t stored = 0;
        std::size_t prefetches = 0;
        for (const Instruction& instruction : decode(kernel.loop())) {
            prefetches += instruction.kind == InstructionKind::prefetch ? 1 : 0;
            if (instruction.kind == InstructionKind::prefetch) continue;
            if (instruction.reads_memory) loaded += static_cast<std::size_t>(instruction.bytes);
            if (instruction.writes_memory) stored += static_cast<std::size_t>(instruction.bytes);
        }
        const std::size_t iteration = StreamKernel::bytes_per_iteration(isa, form);
        CHECK(loaded == iteration * static_cast<std::size_t>(stream.loads()));
        CHECK(stored == iteration * static_cast<std::size_t>(stream.stores));
        const std::size_t lines = (iteration + 63) / 64;
        CHECK(prefetches == (form.ahead > 0 ? lines * static_cast<std::size_t>(stream.loads()) : 0));
    });
}

TEST_CASE("the forms of loads include plain loads and every way to join them, in every length and addressing")
{
    const std::vector<Form> forms = forms_of(parse_stream("load"), false, true);
    for (const Join join : {Join::none, Join::sum, Join::bits, Join::maximum}) {
        for (const int vectors : {1, 2, 4, 8, 16, 32}) {
            for (const Addressing addressing : {Addressing::pointers, Addressing::counter}) {
                const Form form{.vectors = vectors, .join = join, .addressing = addressing};
                CHECK(std::ranges::count(forms, form) == 1);
            }
        }
    }
}

TEST_CASE("plain loads compute nothing, and joined loads compute with each operand in memory")
{
    const Isa& isa = parse_isa("avx512");
    const auto kinds = [&](Join join) {
        std::set<InstructionKind> found;
        for (const Instruction& instruction :
             decode(StreamKernel(isa, parse_stream("load"), {.vectors = 4, .join = join}).loop()))
            if (instruction.reads_memory) found.insert(instruction.kind);
        return found;
    };
    CHECK(kinds(Join::none) == std::set{InstructionKind::load});
    CHECK(kinds(Join::sum) == std::set{InstructionKind::add_words});
    CHECK(kinds(Join::bits) == std::set{InstructionKind::join_bits});
    CHECK(kinds(Join::maximum) == std::set{InstructionKind::maximum});
}

TEST_CASE("no form is offered twice, and prefetching and parts are tried only beyond L1")
{
    for (const Stream& stream : stream_table) {
        for (const bool beyond_l1 : {false, true}) {
            std::vector<Form> forms = forms_of(stream, beyond_l1, true);
            std::ranges::sort(forms);
            CHECK(std::ranges::adjacent_find(forms) == forms.end());
            const auto is_for_memory = [](const Form& form) { return form.ahead > 0 || form.parts > 1; };
            CHECK(std::ranges::any_of(forms, is_for_memory) == beyond_l1);
        }
    }
}

TEST_CASE("with a lag each step follows the step before by that number of vectors")
{
    const StreamKernel kernel(parse_isa("avx512"), parse_stream("triad"), {.vectors = 4, .lag = 1});
    std::vector<std::pair<InstructionKind, int>> order;
    for (const Instruction& instruction : decode(kernel.loop()))
        if (instruction.reads_memory || instruction.writes_memory)
            order.emplace_back(instruction.kind, instruction.address.displacement / 64);
    const std::vector<std::pair<InstructionKind, int>> expected{
        {InstructionKind::mul, 0},   {InstructionKind::mul, 1},   {InstructionKind::add, 0},
        {InstructionKind::mul, 2},   {InstructionKind::store, 0}, {InstructionKind::add, 1},
        {InstructionKind::mul, 3},   {InstructionKind::store, 1}, {InstructionKind::add, 2},
        {InstructionKind::store, 2}, {InstructionKind::add, 3},   {InstructionKind::store, 3}};
    CHECK(order == expected);
}

void check_moves(const Isa& isa, const Stream& stream, const Form& form)
{
    Bed bed(isa, stream, form);
    bed.run(3);
    CHECK_NOTHROW(bed.check(3));
}

TEST_CASE("every bandwidth kernel that this machine can run moves the right data")
{
    for_kernels([](const Isa& isa, const Stream& stream, const Form& form) {
        const bool can_run = usable(usable_isas(), isa.name) && (!form.fused || usable(usable_features(), "fma"));
        if (can_run) check_moves(isa, stream, form);
    });
}

TEST_CASE("one wrong word fails the check of every operation")
{
    for (const Stream& stream : stream_table) {
        CAPTURE(stream.name);
        for (const Join join : {Join::none, Join::sum}) {
            Bed bed(parse_isa("sse"), stream, {.join = join});
            const std::size_t last = bed.arrays.bytes - 8;
            if (stream.only_reads()) bed.arrays.array(0)[last] ^= std::byte{1};
            bed.run(2);
            if (stream.stores > 0) bed.arrays.destination()[last] ^= std::byte{1};
            CHECK_THROWS_AS(bed.check(2), Error);
        }
    }
}

TEST_CASE("a missing pass is detected by the sum of the loads and by the updated words")
{
    for (const char* operation : {"load", "update", "accumulate", "accumulate_two"}) {
        Bed bed(parse_isa("sse"), parse_stream(operation), {});
        bed.run(2);
        CHECK_THROWS_AS(bed.check(3), Error);
    }
}

TEST_CASE("a word that changes the bits or the maximum fails their check")
{
    for (const Join join : {Join::bits, Join::maximum}) {
        Bed bed(parse_isa("sse"), parse_stream("load"), {.join = join});
        bed.arrays.array(0)[7] = std::byte{0x40};  // a number of two or more; all others are below two
        bed.run(1);
        CHECK_THROWS_AS(bed.check(1), Error);
    }
}

TEST_CASE("missing stores are detected")
{
    for (const Stream& stream : stream_table) {
        Bed bed(parse_isa("sse"), stream, {});
        CHECK_THROWS_AS(bed.check(1), Error);
    }
}

TEST_CASE("arrays start at the same offset in a page, one behind the other")
{
    const StreamArrays arrays{parse_stream("triad"), 5000, nullptr, 64};
    CHECK(arrays.array(1) - arrays.array(0) == 8192);
    CHECK(arrays.destination() == arrays.array(2));
    CHECK(arrays.extent() == 2 * 8192 + 5000);
    CHECK(StreamArrays{parse_stream("update"), 5000, nullptr}.extent() == 5000);
}

TEST_CASE("operations read and write as many bytes per element as their names say")
{
    const auto reads_and_writes = [](const char* name) {
        const Stream& stream = parse_stream(name);
        return std::tuple(stream.arrays(), stream.loads(), stream.stores);
    };
    CHECK(reads_and_writes("load") == std::tuple(1, 1, 0));
    CHECK(reads_and_writes("store_nt") == std::tuple(1, 0, 1));
    CHECK(reads_and_writes("copy") == std::tuple(2, 1, 1));
    CHECK(reads_and_writes("update") == std::tuple(1, 1, 1));
    CHECK(reads_and_writes("accumulate") == std::tuple(2, 2, 1));
    CHECK(reads_and_writes("accumulate_two") == std::tuple(3, 3, 1));
    CHECK(reads_and_writes("triad") == std::tuple(3, 2, 1));
}

TEST_CASE("scalars have no non-temporal store")
{
    CHECK_THROWS_AS(StreamKernel(parse_isa("scalar"), parse_stream("copy_nt"), {}), Unsupported);
    CHECK_THROWS_AS(parse_stream("stores"), InputError);
}
