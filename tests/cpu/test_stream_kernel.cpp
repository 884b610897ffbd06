// Bandwidth kernels: that they consist of the loads and stores they are counted by, and that their check notices damage.
#include "cpu/buffer.hpp"
#include "cpu/kernels/registers.hpp"
#include "cpu/kernels/stream_kernel.hpp"
#include "cpu/probes/stream_check.hpp"
#include "ert/base/error.hpp"
#include "tests/cpu/decode.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

using namespace roof;
using namespace roof::cpu;

namespace {

/// One stream on one thread, over arrays of a few iterations.
struct Bed {
    Bed(const Isa& isa, const Stream& row, bool fused)
        : kernel(isa, row, fused),
          stream(row),
          bytes(5 * StreamKernel::bytes_per_iteration(isa, row)),
          memory(bytes * row.arrays(), "a test"),
          constant(1, isa.register_bytes, Precision::fp64),
          sums(kernel.accumulators(), isa.register_bytes, Precision::fp64)
    {
        constant.broadcast(0, stream_constant);
        auto* const words = reinterpret_cast<std::uint64_t*>(memory.data());
        for (std::size_t i = 0; i < bytes * row.arrays() / 8; ++i) words[i] = content(i);
    }

    StreamArrays arrays() const { return {stream, bytes, memory.data()}; }

    void run(std::size_t passes)
    {
        const StreamArrays a = arrays();
        kernel.run(passes, bytes, {a.destination(), a.source(0), a.source(1), constant.data(), sums.data()});
    }

    void check(std::size_t passes) const
    {
        check_stream(arrays(), passes, sums, kernel.accumulators(), kernel.operand_bytes() / 8);
    }

    StreamKernel kernel;
    Stream stream;
    std::size_t bytes;
    HugeBuffer memory;
    RegisterFile constant;
    RegisterFile sums;
};

bool usable(const std::vector<std::string>& words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TEST_CASE("the loads and stores in a bandwidth loop are those its bytes are counted from")
{
    for (const Isa& isa : isa_table) {
        for (const Stream& stream : stream_table) {
            for (const bool fused : {false, true}) {
                CAPTURE(isa.name, stream.name, fused);
                const StreamKernel kernel(isa, stream, fused);
                std::size_t loaded = 0;
                std::size_t stored = 0;
                for (const test::Instruction& instruction : test::decode(kernel.loop())) {
                    CHECK(instruction.kind != test::Kind::other);
                    if (instruction.reads_memory) loaded += instruction.bytes;
                    if (instruction.writes_memory) stored += instruction.bytes;
                }
                const std::size_t iteration = StreamKernel::bytes_per_iteration(isa, stream);
                CHECK(loaded == iteration * stream.loads);
                CHECK(stored == iteration * stream.stores);
            }
        }
    }
}

TEST_CASE("every bandwidth kernel that this machine can run moves what it should")
{
    for (const Isa& isa : isa_table) {
        for (const Stream& stream : stream_table) {
            for (const bool fused : {false, true}) {
                if (!usable(usable_isas(), isa.name) || (fused && !usable(usable_features(), "fma"))) continue;
                CAPTURE(isa.name, stream.name, fused);
                Bed bed(isa, stream, fused);
                bed.run(3);
                CHECK_NOTHROW(bed.check(3));
            }
        }
    }
}

TEST_CASE("one wrong word fails the check of every operation")
{
    for (const Stream& stream : stream_table) {
        CAPTURE(stream.name);
        Bed bed(parse_isa("sse"), stream, false);
        if (stream.stores == 0) bed.memory.data()[bed.bytes - 8] ^= std::byte{1};
        bed.run(2);
        if (stream.stores > 0) bed.arrays().destination()[bed.bytes - 8] ^= std::byte{1};
        CHECK_THROWS_AS(bed.check(2), Error);
    }
}

TEST_CASE("a pass too few is noticed by the sum of the loads")
{
    Bed bed(parse_isa("sse"), parse_stream("load"), false);
    bed.run(2);
    CHECK_THROWS_AS(bed.check(3), Error);
}

TEST_CASE("stores that never ran are noticed")
{
    Bed bed(parse_isa("sse"), parse_stream("store"), false);
    CHECK_THROWS_AS(bed.check(1), Error);
}
