// Known loops under valgrind: FLOPs equal to hand arithmetic, bytes within 5% of it. The simulated caches are small, so
// that the loops need not be long: 16 KiB and 64 KiB.
#include "analysis/instructions/executed_work.hpp"
#include "tests/skip.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/programs/simulated_program.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace roof;
using analysis::ExecutedProgram;
using analysis::ExecutedWork;
using analysis::KindOfFlops;

namespace {

const SimulatedCaches small{{16384, 8}, {65536, 16}};

/// Why the loops of this build cannot run here.
std::string missing()
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return "this processor has no AVX2";
    return missing_simulation();
}

/// The loop's function, and the program around it.
struct Run {
    ExecutedProgram program;
    ExecutedWork loop;
};

Run run(const std::string& variant, const std::string& loop, long n, long passes)
{
    const Scratch scratch;
    std::string problem;
    const std::string file = std::string(ROOF_KNOWN_LOOPS) + "_" + variant;
    const int status = run_again(
        under_callgrind({file, loop, std::to_string(n), std::to_string(passes)}, small, scratch.path()), {}, problem);
    INFO(file << " " << problem);
    REQUIRE(status == 0);
    Run run{analysis::executed_work(executed_functions(scratch.path())), {}};
    const auto found = std::ranges::find(run.program.functions, loop, &ExecutedWork::name);
    REQUIRE(found != run.program.functions.end());
    run.loop = *found;
    return run;
}

bool near(double counted, double by_hand)
{
    return std::abs(counted - by_hand) <= 0.05 * by_hand;
}

/// A compiled variant: the size of its numbers, and the kind of the loop's FLOPs where all of them are of one.
struct Variant {
    const char* name;
    double size;
    KindOfFlops kind;
};

const Variant double_one{"sse_one", 8, {"fp64", "SSE", 0}};
const Variant float_sse{"sse", 4, {"fp32", "SSE", 128}};
const Variant double_avx{"avx", 8, {"fp64", "AVX", 256}};
const Variant float_fma{"fma", 4, {"fp32", "FMA", 256}};
const Variant long_x87{"x87", 16, {"fp80", "x87", 0}};

}  // namespace

TEST_CASE("a triad has two FLOPs an element, and moves three numbers of it")
{
    if (const std::string reason = missing(); !reason.empty()) return skip(reason);
    constexpr long n = 100'000, passes = 2;
    for (const Variant& variant : {double_one, float_sse, double_avx, float_fma, long_x87}) {
        INFO(variant.name);
        const auto [program, triad] = run(variant.name, "triad", n, passes);
        const double bytes = variant.size * n * passes;
        CHECK(triad.total_flops() == 2 * n * passes);
        CHECK(triad.flops.at(variant.kind) == 2 * n * passes);
        CHECK(program.whole.total_flops() == 2 * n * passes);
        CHECK(near(triad.read, 2 * bytes));
        CHECK(near(triad.written, bytes));
        CHECK(near(triad.into_first, 3 * bytes));
        // x87 moves the ten bytes of a number of sixteen
        CHECK(near(triad.operand_bytes, 3 * bytes * (variant.size == 16 ? 10.0 / 16 : 1)));
    }
}

TEST_CASE("a vector that is changed in place is read and written")
{
    if (const std::string reason = missing(); !reason.empty()) return skip(reason);
    constexpr long n = 200'000, passes = 4;
    const auto [program, axpy] = run("fma", "axpy", n, passes);
    CHECK(axpy.total_flops() == 2 * n * passes);
    CHECK(near(axpy.read, 2 * 4 * n * passes));
    CHECK(near(axpy.written, 4 * n * passes));
}

TEST_CASE("a matrix product has two FLOPs a multiply-add, and bytes by the order of its loops")
{
    if (const std::string reason = missing(); !reason.empty()) return skip(reason);
    constexpr double n = 152, line = 64;
    const auto check = [&](const Variant& variant, const char* order, double read, double written) {
        INFO(variant.name << " " << order);
        const auto [program, product] = run(variant.name, order, static_cast<long>(n), 1);
        CHECK(product.total_flops() == 2 * n * n * n);
        CHECK(program.whole.total_flops() == 2 * n * n * n);
        CHECK(product.by_precision().at(variant.kind.precision) == 2 * n * n * n);
        CHECK(near(product.read + product.written, read + written));
    };
    // The matrix that the inner loop passes over is larger than the last cache, so it is read again in each turn of the
    // outer loop. A row of the first matrix and of the result stay in a cache.
    for (const Variant& variant : {double_one, long_x87}) {
        const double s = variant.size;
        check(variant, "ijk", s * (n * n * n + n * n), s * n * n);
    }
    for (const Variant& variant : {float_sse, double_avx, float_fma}) {
        const double s = variant.size;
        check(variant, "ikj", s * (n * n * n + 2 * n * n), s * n * n);
    }
    // All of the first matrix in each turn of the outer loop; of the second one a line for each number, because the
    // first matrix drives its lines out before the next column needs them. The column of the result is used all the
    // time, and so stays.
    check(float_fma, "jki", float_fma.size * (n * n * n + n * n) + line * n * n, float_fma.size * n * n);
}

TEST_CASE("a program beyond AVX2 is refused in one sentence with the instruction")
{
    if (const std::string reason = missing(); !reason.empty()) return skip(reason);
    if (!__builtin_cpu_supports("avx512f")) return skip("this processor has no AVX-512");
    const Scratch scratch;
    std::string problem;
    const std::string file = std::string(ROOF_KNOWN_LOOPS) + "_avx512";
    CHECK(run_again(under_callgrind({file, "triad", "1000", "1"}, small, scratch.path()), {}, problem) != 0);
    const std::string sentence = unknown_instruction(scratch.path());
    CHECK_THAT(sentence, Catch::StartsWith("valgrind does not know the instruction V") && Catch::Contains("(AVX512") &&
                             Catch::Contains("-march=x86-64-v3"));
}
