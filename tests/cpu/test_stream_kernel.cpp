// Bandwidth kernels: their loads and stores, and the check of their results.
#include "cpu/buffer.hpp"
#include "cpu/kernels/registers.hpp"
#include "cpu/kernels/stream_kernel.hpp"
#include "cpu/probes/stream_check.hpp"
#include "ert/base/error.hpp"
#include "tests/cpu/decode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <string>

using namespace roof;
using namespace roof::cpu;

namespace {

/// One stream on one thread, over arrays of a few iterations, within a slice.
struct Bed {
    Bed(const Isa& isa, const Stream& row, const Shape& shape)
        : kernel(isa, row, shape),
          stream(row),
          memory(1 << 20, "a test"),
          arrays{stream, 5 * StreamKernel::bytes_per_iteration(isa, shape), memory.data(), 8192},
          constant(1, 64, Precision::fp64)
    {
        const bool adds_words = row.movement == Movement::update;
        constant.broadcast(0, adds_words ? std::bit_cast<double>(update_constant) : stream_constant);
        write_content(memory.data(), 0, memory.size());
    }

    void run(std::size_t passes)
    {
        kernel.run(passes, arrays.bytes,
                   {arrays.destination(), arrays.array(0), arrays.array(1), constant.data(),
                    reinterpret_cast<std::byte*>(result.data())});
    }

    void check(std::size_t passes) const { check_stream(arrays, {0, arrays.bytes}, passes, result); }

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
            for (const Shape& shape : shapes_of(stream, true, can_fuse)) {
                CAPTURE(isa.name, stream.name, shape.text());
                use(isa, stream, shape);
            }
        }
    }
}

}  // namespace

TEST_CASE("the loads and stores in a bandwidth loop give the counted bytes")
{
    for_kernels([](const Isa& isa, const Stream& stream, const Shape& shape) {
        const StreamKernel kernel(isa, stream, shape);
        std::size_t loaded = 0;
        std::size_t stored = 0;
        std::size_t prefetches = 0;
        for (const test::Instruction& instruction : test::decode(kernel.loop())) {
            CHECK(instruction.kind != test::Kind::other);
            prefetches += instruction.kind == test::Kind::prefetch ? 1 : 0;
            if (instruction.reads_memory) loaded += static_cast<std::size_t>(instruction.bytes);
            if (instruction.writes_memory) stored += static_cast<std::size_t>(instruction.bytes);
        }
        const std::size_t iteration = StreamKernel::bytes_per_iteration(isa, shape);
        CHECK(loaded == iteration * static_cast<std::size_t>(stream.loads));
        CHECK(stored == iteration * static_cast<std::size_t>(stream.stores));
        CHECK(prefetches == (shape.ahead > 0 ? iteration / 64 * static_cast<std::size_t>(stream.loads) : 0));
    });
}

TEST_CASE("every bandwidth kernel that this machine can run moves the right data")
{
    for_kernels([](const Isa& isa, const Stream& stream, const Shape& shape) {
        if (!usable(usable_isas(), isa.name) || (shape.fused && !usable(usable_features(), "fma"))) return;
        Bed bed(isa, stream, shape);
        bed.run(3);
        CHECK_NOTHROW(bed.check(3));
    });
}

TEST_CASE("one wrong word fails the check of every operation")
{
    for (const Stream& stream : stream_table) {
        CAPTURE(stream.name);
        Bed bed(parse_isa("sse"), stream, {});
        const std::size_t last = bed.arrays.bytes - 8;
        if (stream.stores == 0) bed.arrays.array(0)[last] ^= std::byte{1};
        bed.run(2);
        if (stream.stores > 0) bed.arrays.destination()[last] ^= std::byte{1};
        CHECK_THROWS_AS(bed.check(2), Error);
    }
}

TEST_CASE("a missing pass is detected by the sum of the loads and by the updated words")
{
    for (const char* operation : {"load", "update"}) {
        Bed bed(parse_isa("sse"), parse_stream(operation), {});
        bed.run(2);
        CHECK_THROWS_AS(bed.check(3), Error);
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

TEST_CASE("an update moves each byte twice in one array, and a triad three times in three")
{
    CHECK(parse_stream("update").arrays() == 1);
    CHECK(parse_stream("update").moves() == 2);
    CHECK(parse_stream("triad").arrays() == 3);
    CHECK(parse_stream("triad").moves() == 3);
}

TEST_CASE("scalars have no non-temporal store")
{
    CHECK_THROWS_AS(StreamKernel(parse_isa("scalar"), parse_stream("copy_nt"), {}), Unsupported);
    CHECK_THROWS_AS(parse_stream("stores"), InputError);
}
